import { literally } from '@automation/database'
import { lowestIdAt } from '../execution-id.ts'
import type { Queries } from './connections.ts'

const most = { parameters: 8192, value: 4096 }

/** In a statement, the text of a run `e` that is searched: the beginnings of its parameters and its value, and its error. */
const searchedText = `(left(e.parameters, ${most.parameters}) || ' ' || coalesce(left(e.return_value, ${most.value}), '') || ' ' || coalesce(e.explanation, ''))`

/** The same as an index of the table has it. */
export const indexedText = searchedText.replaceAll('e.', '')

const beginning = (column: string, characters: number) =>
  `CASE WHEN octet_length(${column}) <= ${characters} THEN ${column} ELSE left(${column}, ${characters}) END`

/** The parts of that text, none of which is copied where it is short: words do not span them. */
const searchedParts = [
  beginning('e.parameters', most.parameters),
  beginning('e.return_value', most.value),
  'e.explanation',
]

const mostWords = 10
const few = 2000
const dayMs = 86_400_000

/** In a statement, that a run `e` has each word of a search: of days whose words may have an index, and of the present one. */
interface WordConditions {
  indexed: string[]
  /** For runs that are looked at one by one. */
  scanned: string[]
}

/** `parameter` gives a value its place in the statement. */
export function hasWords(text: string, parameter: (value: unknown) => string): WordConditions {
  const words = text
    .split(/\s+/u, mostWords + 1)
    .filter(Boolean)
    .slice(0, mostWords)
  const given = words.map((word) => ({ word, pattern: parameter(`%${literally(word)}%`) }))
  return {
    indexed: given.map(({ pattern }) => `${searchedText} ILIKE ${pattern}`),
    scanned: given.map(({ word, pattern }) => {
      const parts = searchedParts.map((part) => contains(part, word, pattern))
      return `(${parts.join(' OR ')})`
    }),
  }
}

/** What has no case is found without folding any, and the case of ASCII is folded in half the time of all others. */
function contains(part: string, word: string, pattern: string): string {
  if (/[^!-~]/.test(word)) return `${part} ILIKE ${pattern}`
  if (!/[a-z]/i.test(word)) return `${part} LIKE ${pattern}`
  return `lower((${part}) COLLATE "C") LIKE lower(${pattern}::text COLLATE "C")`
}

/**
 * The ids of the runs for which all this holds, where they are few: those are found by indexes of words, which know no
 * order; those of the present day, which has none, one by one. Undefined where they are many, so that a list in its order
 * soon has a page of them.
 */
export async function readFewIds(
  queries: Queries,
  where: string[],
  { indexed, scanned }: WordConditions,
  values: unknown[],
): Promise<string[] | undefined> {
  const today = lowestIdAt(Math.floor(Date.now() / dayMs) * dayMs)
  const found = (conditions: string[]) =>
    `(SELECT e.id FROM executions e WHERE ${[...where, ...conditions].join(' AND ')} LIMIT ${few + 1})`
  const text = `${found([...indexed, `e.id < '${today}'`])} UNION ALL ${found([...scanned, `e.id >= '${today}'`])} LIMIT ${few + 1}`
  const { rows } = await queries.query<{ id: string }>(text, values)
  return rows.length > few ? undefined : rows.map(({ id }) => id)
}
