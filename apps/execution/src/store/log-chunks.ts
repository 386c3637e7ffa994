import type { LogEntry } from '@automation/contract/execution/v1/execution'
import { dayOf } from '../execution-id.ts'
import { appendedFrom } from './log-pages.ts'
import type { Queries } from './connections.ts'

/** Entries as the text of a chunk: `[[microseconds, level, message], …]`. */
export function chunkBody(entries: LogEntry[]): string {
  // JSON escapes NUL, and replaces nothing else.
  return JSON.stringify(entries.map(({ timeUs, level, message }) => [Number(timeUs), level, message]))
}

export interface Chunk {
  id: string
  fence: bigint
  /** Of the runner that sends it. */
  sessionId: string
  first: number
  entries: LogEntry[]
}

/** Whether a runner may send these lines: beyond are the numbers of those that do not come from the run. */
export function isOfRun({ first, entries }: { first: number; entries: LogEntry[] }): boolean {
  return first + entries.length <= appendedFrom
}

/** Appends chunks, all of the same day, where fence and session are those of the run's assignment. */
export async function insertChunks(pool: Queries, chunks: Chunk[]): Promise<void> {
  const day = dayOf(chunks[0]!.id)
  await pool.query({
    name: `logs-${day}`,
    text: `INSERT INTO log_chunks (execution_id, first, lines, body)
           SELECT l.id, l.first, l.lines, l.body
             FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::integer[], $5::integer[], $6::text[])
               AS l(id, fence, session_id, first, lines, body)
             JOIN executions_${day} e ON e.id = l.id AND e.fence = l.fence AND e.session_id = l.session_id
           ON CONFLICT DO NOTHING`,
    values: chunkColumns(chunks),
  })
}

/** The end of the lines of a run that are stored, and what they take as text of chunks. */
export interface LogSize {
  lines: number
  bytes: number
}

/** How much the run itself has logged; undefined where fence and session are not those of its assignment. */
export async function readLogSize(
  pool: Queries,
  { id, fence, sessionId }: Pick<Chunk, 'id' | 'fence' | 'sessionId'>,
): Promise<LogSize | undefined> {
  const { rows } = await pool.query<LogSize>({
    name: 'log-size',
    text: `SELECT coalesce(max(l.first + l.lines), 0)::integer AS lines,
                  coalesce(sum(octet_length(l.body)), 0)::float8 AS bytes
             FROM executions e LEFT JOIN log_chunks l ON l.execution_id = e.id AND l.first < ${appendedFrom}
            WHERE e.id = $1 AND e.fence = $2 AND e.session_id = $3 GROUP BY e.id`,
    values: [id, fence, sessionId],
    query_timeout: 1500,
  })
  return rows[0]
}

/** Chunks as the arrays of a statement: id, fence, session, first line, lines, body. */
export function chunkColumns(chunks: Chunk[]): unknown[] {
  return [
    chunks.map(({ id }) => id),
    chunks.map(({ fence }) => fence),
    chunks.map(({ sessionId }) => sessionId),
    chunks.map(({ first }) => first),
    chunks.map(({ entries }) => entries.length),
    chunks.map(({ entries }) => chunkBody(entries)),
  ]
}

/** About how many bytes a chunk takes as JSON, which writes a control character as six. */
export function chunkWeight({ entries }: Pick<Chunk, 'entries'>): number {
  return entries.reduce((sum, { message }) => sum + message.length * (control.test(message) ? 6 : 1) + 40, 0)
}

// oxlint-disable-next-line no-control-regex -- those without a short form, which are in few lines
const control = /[\0-\x07\v\x0e-\x1f]/
