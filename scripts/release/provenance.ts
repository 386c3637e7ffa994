import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { filesBelow } from './checksums.ts'
import type { Source } from './source.ts'

/** How a release was made, as an in-toto statement with SLSA provenance (v1): of its images and files, from which commit and bases. */
export async function provenanceOf({
  out,
  version,
  platforms,
  source,
  bases,
  digests,
}: {
  out: string
  version: string
  /** Those that each image was built for, by its name. */
  platforms: ReadonlyMap<string, string[]>
  source: Source
  bases: ReadonlyMap<string, string>
  digests: ReadonlyMap<string, string>
}): Promise<object> {
  const hashOf = async (path: string) =>
    createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
  const files = await filesBelow(out)
  const ofFiles = await Promise.all(files.map(async (name) => subject(name, await hashOf(join(out, name)))))
  const ofImages = [...digests].map(([name, digest]) => subject(`process-automation-${name}`, digest.slice(7)))
  const lock = await hashOf(join(source.folder, 'package-lock.json'))
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...ofImages, ...ofFiles],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:process-automation:release:1',
        externalParameters: { version, platforms: Object.fromEntries(platforms) },
        internalParameters: { sourceDateEpoch: source.time },
        resolvedDependencies: [
          { uri: 'git+process-automation', digest: { gitCommit: source.commit } },
          { uri: 'package-lock.json', digest: { sha256: lock } },
          ...[...bases].map(([name, digest]) => ({ uri: `docker://${name}`, digest: { sha256: digest.slice(7) } })),
        ],
      },
      runDetails: {
        // Who runs this signs it: the statement alone proves nothing.
        builder: { id: 'urn:process-automation:release-script', version: { node: process.version } },
        metadata: { invocationId: `${version}-${source.commit}` },
      },
    },
  }
}

const subject = (name: string, sha256: string) => ({ name, digest: { sha256 } })
