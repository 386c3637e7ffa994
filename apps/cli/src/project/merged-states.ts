import { isRecord } from './canonical-json.ts'
import { readYaml } from './edit-yaml.ts'

/**
 * `merged.yaml`: by key, the digest of the state of the server that `pas pull` has merged into the files. It goes with the
 * merge through branches and into CI, where push knows by it that nothing of that state is lost.
 */
export function readMerged(text: string | undefined): ReadonlyMap<string, string> {
  const value = text === undefined ? {} : readYaml(text)
  if (!isRecord(value)) throw new Error('merged.yaml must be a map')
  return new Map(Object.entries(value).map(([key, digest]) => [key, String(digest)]))
}

/** The file; null where it would be empty. */
export function mergedText(merged: ReadonlyMap<string, string>): string | null {
  if (merged.size === 0) return null
  const lines = [...merged]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, digest]) => `${JSON.stringify(key)}: ${JSON.stringify(digest)}\n`)
  return `# States of the server that "pas pull" has merged into these files: "pas push" may replace them.\n${lines.join('')}`
}
