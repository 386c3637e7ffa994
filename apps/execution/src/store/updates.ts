import type { Status } from '@automation/contract/execution/v1/execution'
import { appendedFrom, lastWord, type LogLine } from './log-pages.ts'
import type { Queries } from './connections.ts'

export interface TimelineRow {
  sequence: number
  status: Status
  at: Date
  explanation: string | null
  /** How long ago, by database time. */
  ageMs: number
}

/** So many events come at once, at most. */
export const maxEvents = 200

/** Events from this one on, itself included; none where it was never there. */
export async function readEventsFrom(pool: Queries, id: string, sequence: number): Promise<TimelineRow[]> {
  const { rows } = await pool.query<TimelineRow>({
    name: 'events-from',
    text: `SELECT sequence, status, at, explanation, extract(epoch FROM clock_timestamp() - at)::float8 * 1000 AS "ageMs"
             FROM timeline_events WHERE execution_id = $1 AND sequence >= $2 ORDER BY sequence LIMIT ${maxEvents}`,
    values: [id, sequence],
  })
  return rows
}

interface ChunkRow {
  first: number
  lines: number
  body: string
}

const maxChunks = 64
const maxBytes = 128 * 1024

/** Chunks with lines from number `from` on, those of the run or those that were added: some of them, at least one if any. */
export async function readChunksFrom(pool: Queries, id: string, from: number): Promise<ChunkRow[]> {
  const own = from < appendedFrom
  const { rows } = await pool.query<ChunkRow>({
    name: own ? 'chunks-from' : 'appended-from',
    text: `SELECT first, lines, body FROM (
             SELECT first, lines, body, sum(octet_length(body)) OVER (ORDER BY first) - octet_length(body) AS before FROM (
               SELECT first, lines, body FROM log_chunks
                WHERE execution_id = $1 AND first < ${own ? appendedFrom : lastWord} AND first + lines > $2
                  AND first >= coalesce((SELECT max(first) FROM log_chunks WHERE execution_id = $1 AND first <= $2), 0)
                ORDER BY first LIMIT ${maxChunks}) AS next_few) AS weighed
            WHERE before < ${maxBytes} ORDER BY first`,
    values: [id, from],
  })
  return rows
}

/** Why a run was ended by something else than itself; undefined where it has ended by itself. */
export async function readLastWord(pool: Queries, id: string): Promise<LogLine | undefined> {
  const { rows } = await pool.query<{ body: string }>({
    name: 'last-word',
    text: `SELECT body FROM log_chunks WHERE execution_id = $1 AND first = ${lastWord}`,
    values: [id],
  })
  return rows[0] && (JSON.parse(rows[0].body) as LogLine[])[0]
}

/** The lines of a chunk from number `from` on. */
export function linesOf({ first, body }: ChunkRow, from: number): LogLine[] {
  return (JSON.parse(body) as LogLine[]).slice(Math.max(from - first, 0))
}

/** For each of these executions that is there, a text that is another one when there is something new. */
export async function readSigns(pool: Queries, ids: string[]): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ id: string; sign: string }>({
    name: 'signs',
    text: `SELECT w.id, e.sequence || ' ' || coalesce(own.next, 0) || ' ' || coalesce(added.next, 0) AS sign
             FROM unnest($1::uuid[]) AS w(id)
             CROSS JOIN LATERAL (SELECT sequence FROM executions WHERE id = w.id LIMIT 1) e
             LEFT JOIN LATERAL (SELECT first + lines AS next FROM log_chunks
                                 WHERE execution_id = w.id AND first < ${appendedFrom} ORDER BY first DESC LIMIT 1) own ON true
             LEFT JOIN LATERAL (SELECT first + lines AS next FROM log_chunks
                                 WHERE execution_id = w.id AND first >= ${appendedFrom} AND first < ${lastWord}
                                 ORDER BY first DESC LIMIT 1) added ON true`,
    values: [ids],
  })
  return new Map(rows.map(({ id, sign }) => [id, sign]))
}
