import { digestOf, isRecord } from './canonical-json.ts'
import { processFiles } from './process-folder.ts'
import type { Item } from './states.ts'

/** A state of the server that `pas pull` has merged into the files of an item, or has left to be merged by hand. */
interface Merged {
  /** The digest of that state. */
  server: string
  /** Of each part that clashed, the digest of what the files had: as long as they have it, nobody has merged it. */
  unmerged?: Readonly<Record<string, string>>
}

/** By key. Branches that were merged may each have merged another state. */
export type MergedStates = ReadonlyMap<string, readonly Merged[]>

const line = /^("(?:[^"\\]|\\.)+"): (.+)$/

/**
 * Reads `merged.yaml`, which goes with a merge through branches and into CI, where push knows by it that nothing of that state
 * of the server is lost. A merge in git may leave two lines of one key.
 */
export function readMerged(text = ''): MergedStates {
  const lines = text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))
  const found = lines.map((each): [string, Merged] => {
    const [, key, value] = line.exec(each) ?? []
    const merged = value === undefined ? undefined : parsed(value)
    if (key === undefined || merged === undefined)
      throw new Error(`merged.yaml has a line that "pas pull" has not written: ${each}`)
    return [JSON.parse(key) as string, merged]
  })
  return new Map([...Map.groupBy(found, ([key]) => key)].map(([key, all]) => [key, all.map(([, merged]) => merged)]))
}

function parsed(text: string): Merged | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'string') return { server: value }
    return isRecord(value) && typeof value['server'] === 'string' ? (value as unknown as Merged) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The file: a line a key, so that git merges it by lines. It stays where it is empty, since git merges no removal. */
export function mergedText(merged: MergedStates): string {
  const lines = [...merged]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, all]) =>
      all.map((each) => `${JSON.stringify(key)}: ${JSON.stringify(each.unmerged ? each : each.server)}\n`),
    )
  return `# States of the server that "pas pull" has merged into these files: "pas push" may replace them.\n${lines.join('')}`
}

/** Whether a state of the server is in the files, whose state of the item is `local`. */
export function isMerged(all: readonly Merged[] = [], server: string, local: Item['state'] | undefined): boolean {
  return all.some((each) => {
    if (each.server !== server) return false
    return Object.entries(each.unmerged ?? {}).every(([part, digest]) => digestOf(partOf(local, part)) !== digest)
  })
}

/** What is left to be merged by hand of an item whose files clash, as `Merged` has it; undefined where nothing clashes. */
export function unmergedParts({ kind, state }: Item, clashing: readonly string[]): Record<string, string> | undefined {
  if (clashing.length === 0) return undefined
  const names = kind === 'process' ? clashing.map(processPart) : [whole]
  return Object.fromEntries(names.map((name) => [name, digestOf(partOf(state, name))]))
}

const whole = 'state'

function partOf(state: unknown, part: string): unknown {
  return part === whole || !isRecord(state) ? (state ?? null) : (state[part] ?? null)
}

/** The member of a process's state that a file has. */
function processPart(path: string): string {
  const file = path.split('/').at(-1)
  if (file === processFiles.settings) return 'settings'
  if (file === processFiles.readme) return 'readme'
  return file === processFiles.schema ? 'parametersSchema' : 'sourceCode'
}
