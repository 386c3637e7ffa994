import { Status } from '@automation/contract/execution/v1/execution'
import type { Queries } from './connections.ts'
import { appendedFrom } from './log-pages.ts'
import { endedStatuses } from './statuses.ts'

/** About what a row takes with its events and its entries in indexes. */
const bytesOfRow = 1000

/** In a statement, the day that an execution `e` is of, as its partition. */
const day = `(to_timestamp(('x' || left(replace(e.id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) AT TIME ZONE 'UTC')::date`
const ofInput = `${bytesOfRow} + coalesce(pg_column_size(e.parameters), 0) + coalesce(pg_column_size(e.request), 0)`
// Lines that others append may come after the end was counted; they are few and short.
const ofEnd = `coalesce(pg_column_size(e.return_value), 0) + coalesce((
    SELECT sum(pg_column_size(l.body)) FROM log_chunks l WHERE l.execution_id = e.id AND l.first < ${appendedFrom}), 0)`

const counted = `
INSERT INTO kept_bytes (team, day, bytes)
SELECT t.team, ${day}, sum(CASE WHEN t.status = ${Status.CREATED} THEN ${ofInput} ELSE ${ofEnd} END)
  FROM timeline_events t CROSS JOIN LATERAL (SELECT * FROM executions e WHERE e.id = t.execution_id LIMIT 1) e
 WHERE t.xid >= $1::xid8 AND t.xid < $2::xid8 AND (t.status = ${Status.CREATED} OR t.status IN ${endedStatuses})
 GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (team, day) DO UPDATE SET bytes = kept_bytes.bytes + excluded.bytes`

/** Counts what executions have brought by events of these transactions: their input when they are made, the rest when they end. */
export async function countDatabaseBytes(client: Queries, from: string, to: string): Promise<void> {
  await client.query({ name: 'database-bytes-count', text: counted, values: [from, to] })
}

const freed = `
WITH freed AS MATERIALIZED (
  SELECT e.team, ${day} AS day, sum(${ofInput} + ${ofEnd}) AS bytes FROM executions e WHERE e.id = ANY ($1::uuid[]) GROUP BY 1, 2
), held AS MATERIALIZED (
  SELECT k.team, k.day FROM kept_bytes k JOIN freed USING (team, day) ORDER BY 1, 2 FOR UPDATE OF k
)
UPDATE kept_bytes k SET bytes = greatest(k.bytes - f.bytes, 0) FROM freed f JOIN held USING (team, day)
 WHERE k.team = f.team AND k.day = f.day`

/** Takes off what these executions took, which have ended, are counted and are about to be removed. */
export async function freeDatabaseBytes(client: Queries, ids: string[]): Promise<void> {
  await client.query({ name: 'database-bytes-free', text: freed, values: [ids] })
}

/** What a team's executions take, in bytes. */
export async function readDatabaseBytes(pool: Queries, team: string): Promise<bigint> {
  const { rows } = await pool.query<{ bytes: string }>({
    name: 'database-bytes-of-team',
    text: 'SELECT coalesce(sum(bytes), 0) AS bytes FROM kept_bytes WHERE team = $1',
    values: [team],
  })
  return BigInt(rows[0]!.bytes)
}

/** The teams that keep so many bytes or more, with how many. */
export async function readLargest(pool: Queries, least: number): Promise<{ team: string; bytes: number }[]> {
  const { rows } = await pool.query<{ team: string; bytes: string }>({
    name: 'database-bytes-largest',
    text: 'SELECT team, sum(bytes) AS bytes FROM kept_bytes GROUP BY team HAVING sum(bytes) >= $1',
    values: [least],
  })
  return rows.map(({ team, bytes }) => ({ team, bytes: Number(bytes) }))
}

/** Forgets days that retention has removed. */
export async function forgetDatabaseBytes(pool: Queries, retentionDays: number): Promise<void> {
  await pool.query({
    name: 'database-bytes-forget',
    text: `DELETE FROM kept_bytes WHERE day < (now() AT TIME ZONE 'UTC')::date - $1::integer - 1`,
    values: [retentionDays],
  })
}
