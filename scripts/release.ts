import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readArguments } from './arguments.ts'
import { targets } from './images/targets.ts'
import { parts, platforms, release, type Outcome, type ReleaseOptions } from './release/release.ts'

const help = `npm run release -- --version X --out FOLDER [OPTIONS]

Makes the files of a release of the commit that is checked out, and publishes nothing: images of each platform in one OCI layout,
the chart with their digests, the packages of npm and PyPI, what is in the images (CycloneDX), how all was made (SLSA),
checksums, and publish, which publishes and signs. Says what was made. Ends with 1 where a part can't be made here, and says
which and why.

  --version X      as package.json, the chart and the Python client have it
  --out FOLDER     a new or an empty one
  --bases FILE     digests of the base images, as base-images.json of a release has them; without, docker looks them up
  --key FILE       signs the checksums: a private key of the curve P-256 (PEM, not encrypted)

For a trial, of which there is no publish:

  --platforms A,B  some of ${platforms.join(', ')}, or others
  --local-bases    base images as this machine has them
  --only A,B       some of ${parts.join(', ')}
  --images A,B     some of ${targets.join(', ')}
  --help

IMAGE_BUILDER names the program that builds (docker, with buildx). Another one, whose build is that of buildah, builds for the
platform of this machine alone.
`

const { values } = readArguments(help, {
  version: { type: 'string' },
  out: { type: 'string' },
  platforms: { type: 'string', default: platforms.join(',') },
  bases: { type: 'string' },
  'local-bases': { type: 'boolean', default: false },
  only: { type: 'string', default: parts.join(',') },
  images: { type: 'string', default: targets.join(',') },
  key: { type: 'string' },
})

if (values.version === undefined || values.out === undefined) {
  process.stderr.write(`--version and --out are missing\n\n${help}`)
  process.exitCode = 2
} else {
  const { version, out } = values
  const { made, missing, trial } = await releaseOrSay({
    root: resolve(dirname(fileURLToPath(import.meta.url)), '..'),
    builder: process.env['IMAGE_BUILDER'] || 'docker',
    version,
    out: resolve(out),
    platforms: values.platforms.split(','),
    basesFile: values.bases,
    localBases: values['local-bases'],
    only: values.only.split(','),
    images: values.images.split(','),
    keyFile: values.key,
  })
  for (const line of made) console.log(`made: ${line}`)
  for (const line of missing) console.error(`missing: ${line}`)
  if (trial.length > 0) console.error(`a trial, by ${trial.join(', ')}: there is no publish`)
  process.exitCode = missing.length === 0 ? 0 : 1
}

/** A release that can't begin, or breaks off, is told in words. */
async function releaseOrSay(options: ReleaseOptions): Promise<Outcome> {
  try {
    return await release(options)
  } catch (error) {
    return { made: [], missing: [`all of it: ${(error as Error).message}`], trial: [] }
  }
}
