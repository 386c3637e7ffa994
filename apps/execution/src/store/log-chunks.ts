import type { LogEntry } from '@automation/contract/execution/v1/execution'
import type pg from 'pg'
import { dayOf } from '../execution-id.ts'

/** Entries as the text of a chunk: `[[microseconds, level, message], …]`. */
export function chunkBody(entries: LogEntry[]): string {
  // JSON escapes NUL, and replaces nothing else.
  return JSON.stringify(entries.map(({ timeUs, level, message }) => [Number(timeUs), level, message]))
}

export interface Chunk {
  id: string
  fence: bigint
  first: number
  entries: LogEntry[]
}

/** Appends chunks, all of the same day, where the fence is that of the run's hand-over. */
export async function insertChunks(pool: pg.Pool, chunks: Chunk[]): Promise<void> {
  const day = dayOf(chunks[0]!.id)
  await pool.query({
    name: `logs-${day}`,
    text: `INSERT INTO log_chunks (execution_id, first, lines, body)
           SELECT l.id, l.first, l.lines, l.body
             FROM unnest($1::uuid[], $2::bigint[], $3::integer[], $4::integer[], $5::text[]) AS l(id, fence, first, lines, body)
             JOIN executions_${day} e ON e.id = l.id AND e.fence = l.fence
           ON CONFLICT DO NOTHING`,
    values: [
      chunks.map(({ id }) => id),
      chunks.map(({ fence }) => fence),
      chunks.map(({ first }) => first),
      chunks.map(({ entries }) => entries.length),
      chunks.map(({ entries }) => chunkBody(entries)),
    ],
  })
}

/** About how many bytes a chunk takes. */
export function chunkWeight({ entries }: Chunk): number {
  return entries.reduce((sum, { message }) => sum + message.length + 40, 0)
}
