import type { LogEntry } from '@automation/contract/execution/v1/execution'
import { dayOf } from '../execution-id.ts'
import { appendedFrom } from './log-pages.ts'
import type { Queries } from './connections.ts'

/** Entries as the text of a chunk: `[[microseconds, level, message], …]`. */
function chunkBody(entries: LogEntry[]): string {
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

/** Appends chunks, all of the same day, where fence and session are those of the run's hand-over. */
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

/** About how many bytes a chunk takes. */
export function chunkWeight({ entries }: Chunk): number {
  return entries.reduce((sum, { message }) => sum + message.length + 40, 0)
}
