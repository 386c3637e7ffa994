import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { audit } from '../check/advisories.ts'
import { targets } from '../images/targets.ts'
import { readBases } from './bases.ts'
import { packageChart } from './chart.ts'
import { readKey, writeChecksums } from './checksums.ts'
import { makeImages } from './images.ts'
import { makePackages } from './packages.ts'
import { provenanceOf } from './provenance.ts'
import { publishScript } from './publish.ts'
import { sbomOf } from './sbom.ts'
import { withSource, type Source } from './source.ts'

/** What a release consists of. */
export const parts: readonly string[] = ['images', 'chart', 'packages']

/** The platforms of its images. */
export const platforms: readonly string[] = ['linux/amd64', 'linux/arm64']

export interface ReleaseOptions {
  root: string
  /** The program that builds images. */
  builder: string
  version: string
  /** An absolute path. */
  out: string
  /** Such as linux/arm64. */
  platforms: string[]
  basesFile: string | undefined
  localBases: boolean
  /** Of `parts`. */
  only: string[]
  images: string[]
  keyFile: string | undefined
}

/** What became of a release. */
export interface Outcome {
  /** A line for each part that was made. */
  made: string[]
  /** A line for each that could not be made here, with the reason. */
  missing: string[]
  /** The options by which it is a trial; where there are some, or something is missing, nothing publishes it. */
  trial: string[]
}

/** Writes all files of a release. Rejects where nothing can be made at all. */
export async function release(options: ReleaseOptions): Promise<Outcome> {
  expectKnown('--only', options.only, parts)
  expectKnown('--images', options.images, targets)
  // A key that can't sign is found before the work.
  const key = options.keyFile === undefined ? undefined : await readKey(options.keyFile)
  const { root, out, version } = options
  return withSource(root, version, async (source) => {
    await mkdir(out, { recursive: true })
    if ((await readdir(out)).length > 0) throw new Error(`${out} is not empty: name a new folder by --out`)
    const { digests, ...outcome } = await makeParts(options, source)
    if (outcome.missing.length + outcome.trial.length === 0)
      await writeFile(join(out, 'publish'), publishScript(version, digests), { mode: 0o755 })
    await writeChecksums(out, key)
    return outcome
  })
}

async function makeParts(options: ReleaseOptions, source: Source) {
  const { out, version, only } = options
  const made: string[] = []
  const missing = await knownAgainst(source)
  const note = (part: string, faults: string[]) => (faults.length > 0 ? missing.push(...faults) : made.push(part))
  const digests = new Map<string, string>()
  const built = new Map<string, string[]>()
  let bases = new Map<string, string>()
  if (only.includes('images')) {
    bases = await readBases(options, source)
    for (const [name, image] of await makeImages({ ...options, bases, source }, missing)) {
      digests.set(name, image.digest)
      built.set(name, image.platforms)
      made.push(`image ${name} for ${image.platforms.join(', ')}`)
    }
    await writeFile(join(out, 'base-images.json'), json(Object.fromEntries(bases)))
    await mkdir(join(out, 'sbom'))
    for (const [name, digest] of digests) {
      const bom = await sbomOf(name, version, source, { layout: join(out, 'images'), digest })
      await writeFile(join(out, 'sbom', `${name}.cdx.json`), json(bom))
    }
  }
  if (only.includes('chart')) note('the chart', await packageChart({ source, out, version, digests }))
  if (only.includes('packages')) note('the packages', await makePackages(join(out, 'packages'), source))
  const provenance = await provenanceOf({ out, version, platforms: built, source, bases, digests })
  await writeFile(join(out, 'provenance.json'), json(provenance))
  return { made, missing, trial: trialOf(options), digests }
}

/** A release is of its day: what is known then against its packages is missing from it as updates. */
async function knownAgainst({ folder }: Source): Promise<string[]> {
  const { found, unanswered } = await audit(folder)
  if (unanswered !== undefined) console.error(`not looked at: advisories; ${unanswered}`)
  return found.map((line) => `an update of ${line}`)
}

/** The options of those by which a release is none to publish, as it lacks something that installations ask for. */
export function trialOf(options: Pick<ReleaseOptions, 'only' | 'images' | 'platforms' | 'localBases'>): string[] {
  const lacks = (all: readonly string[], some: string[]) => all.some((one) => !some.includes(one))
  return [
    ...(lacks(parts, options.only) ? ['--only'] : []),
    ...(lacks(targets, options.images) ? ['--images'] : []),
    ...(lacks(platforms, options.platforms) ? ['--platforms'] : []),
    ...(options.localBases ? ['--local-bases'] : []),
  ]
}

function expectKnown(option: string, given: string[], known: readonly string[]): void {
  const unknown = given.filter((one) => !known.includes(one))
  if (unknown.length > 0) throw new Error(`${option} takes ${known.join(', ')}, not ${unknown.join(', ')}`)
}

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`
