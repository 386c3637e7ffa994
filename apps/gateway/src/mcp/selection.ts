import { invalid } from '@automation/errors'
import { queryRecord } from '../http/exchange.ts'
import { includes, levels, usualLevel, type Level } from './levels.ts'

/** What a connection asks for in its address. */
export interface Selection {
  level: Level
  /** Names of tools, slugs and tags of processes, where it names what it wants. */
  words: ReadonlySet<string> | undefined
  /** The alias of versions that process tools run. */
  alias: string | undefined
}

const mostWords = 50

/** Reads `?access=`, `?tools=` and `?alias=`; `scope` is that of the token. Failure: invalid_input. */
export function selectionFrom(query: string, scope: string): Selection {
  const { access, tools, alias } = queryRecord(query)
  const words = wordsOf(tools)
  if (words.length > mostWords) throw invalid('/tools', `must name at most ${mostWords} tools`)
  const isLevel = (text: unknown): text is Level => levels.includes(text as Level)
  const named = [access ?? ''].flat().at(-1) || undefined
  if (named !== undefined && !isLevel(named)) throw invalid('/access', `must be one of ${levels.join(', ')}`)
  return {
    // Who names tools has chosen.
    level: named ?? (words.length > 0 ? 'build' : usualLevel(scope)),
    words: words.length > 0 ? new Set(words) : undefined,
    alias: [alias ?? ''].flat().at(-1) || undefined,
  }
}

function wordsOf(given: string | string[] | undefined): string[] {
  const parts = [given ?? []].flat().flatMap((part) => part.split(','))
  return [...new Set(parts.map((part) => part.trim()).filter(Boolean))]
}

/** Whether a connection that may have a tool also wants it. */
export function isWanted({ level, words }: Selection, tool: { name: string; level: Level }): boolean {
  return includes(level, tool.level) && (words === undefined || words.has(tool.name))
}
