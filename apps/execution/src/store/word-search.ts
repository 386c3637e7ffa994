import { literally } from '@automation/database'
import type { Queries } from './connections.ts'

/** In a statement, the text of a run `e` that is searched: the beginnings of its parameters and its value, and its error. */
const searchedText = `(left(e.parameters, 8192) || ' ' || coalesce(left(e.return_value, 4096), '') || ' ' || coalesce(e.explanation, ''))`

/** The same as an index of the table has it. */
export const indexedText = searchedText.replaceAll('e.', '')

const mostWords = 10
const few = 2000

/** In a statement, that a run `e` has each of these words; `parameter` gives a value its place. */
export function hasWords(text: string, parameter: (value: unknown) => string): string[] {
  const words = text.split(/\s+/u, mostWords + 1).filter(Boolean)
  return words.slice(0, mostWords).map((word) => `${searchedText} ILIKE ${parameter(`%${literally(word)}%`)}`)
}

/**
 * The ids of the runs for which all this holds, where they are few: those are found by indexes of words, which know no
 * order. Undefined where they are many, so that a list in its order soon has a page of them.
 */
export async function readFewIds(queries: Queries, where: string[], values: unknown[]): Promise<string[] | undefined> {
  const text = `SELECT e.id FROM executions e WHERE ${where.join(' AND ')} LIMIT ${few + 1}`
  const { rows } = await queries.query<{ id: string }>(text, values)
  return rows.length > few ? undefined : rows.map(({ id }) => id)
}
