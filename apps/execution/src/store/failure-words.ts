import { LogLevel } from '@automation/contract/execution/v1/execution'
import type { Queries } from './connections.ts'
import { appendedFrom, type LogLine } from './log-pages.ts'

/** In a statement, the body of the last chunk of what a run `e` has printed itself. */
export const lastOwnChunk = `(SELECT body FROM log_chunks WHERE execution_id = e.id AND first < ${appendedFrom} ORDER BY first DESC LIMIT 1)`

/** The last line of what a run has printed itself: of one that its code has failed, the failure with its trace. */
export async function readLastLine(pool: Queries, id: string): Promise<LogLine | undefined> {
  const { rows } = await pool.query<{ body: string | null }>({
    name: 'last-line',
    text: `SELECT ${lastOwnChunk} AS body FROM executions e WHERE e.id = $1`,
    values: [id],
  })
  return rows[0]?.body == null ? undefined : (JSON.parse(rows[0].body) as LogLine[]).at(-1)
}

const cutMark = /… \(cut\)$/

/** The text of a line, where it is the word on this failure: it begins with what the timeline says. */
export function failureText(explanation: string, [, level, text]: LogLine): string | undefined {
  const isWord =
    level === LogLevel.ERROR && explanation !== '' && plain(text).startsWith(plain(explanation.replace(cutMark, '')))
  return isWord ? text : undefined
}

/** Without what rows and logs keep in different ways. */
function plain(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}
