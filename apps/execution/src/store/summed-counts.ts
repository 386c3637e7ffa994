import type { Connections, Queries } from './connections.ts'
import { oldestUncounted } from './run-counts.ts'

const fillTimeoutMs = 60_000

/** Rows of one grain that are sums of rows of another one, with expressions for the columns that are not theirs. */
export interface Sums {
  of: number
  grain: number
  at?: string
  processId?: string
  origin?: string
  /** For which rows. */
  which?: string
}

/**
 * A statement that writes sums: of rows from $1 on and before $2 where nothing else is said. All are there before the first
 * row is written, so that nobody who waits for open transactions to end waits while they are made; in the order of their
 * keys, in which all lock them, and in which they are read. Where what they are of is past retention, what is filled stays
 * as it is.
 */
const addSums = (sums: Sums[], span = 'at >= $1 AND at < $2'): string => `
WITH sums AS MATERIALIZED (${sums.map((one) => select(one, span)).join(' UNION ALL ')})
INSERT INTO run_counts (team, grain, at, process_id, origin, status, runs, run_ms, log_bytes, cpu_ms, memory_mb_ms, durations)
SELECT * FROM sums ORDER BY team, grain, at, process_id, origin, status
    ON CONFLICT (team, grain, at, process_id, origin, status) DO UPDATE
   SET runs = excluded.runs, run_ms = excluded.run_ms, log_bytes = excluded.log_bytes, cpu_ms = excluded.cpu_ms,
       memory_mb_ms = excluded.memory_mb_ms, durations = excluded.durations
 WHERE excluded.runs >= run_counts.runs AND excluded.* IS DISTINCT FROM run_counts.*`

const select = (sums: Sums, span: string) => {
  const { of, grain, at = 'at', processId = 'process_id', origin = 'origin', which = 'true' } = sums
  return `
  SELECT team, ${grain}::smallint AS grain, ${at} AS at, ${processId} AS process_id, ${origin} AS origin, status, sum(runs),
         sum(run_ms), sum(log_bytes), sum(cpu_ms), sum(memory_mb_ms), sum_counts(durations)
    FROM run_counts WHERE grain = ${of} AND ${span} AND ${which} GROUP BY team, 3, 4, 5, status`
}

/** Sums that are filled together, span by span. */
export interface Filled {
  /** The table of one row that says before when all is filled. */
  table: string
  /** One replica at a time has it. */
  lock: string
  sums: [Sums, ...Sums[]]
  /** How long a span is, and how long it has been over when it is filled. */
  unit: 'day' | 'hour'
}

const lengths = { day: '24 hours', hour: '1 hour' }

/** In a statement, when the span began that was the last one to be over for as long as it is. */
const overUntil = (unit: Filled['unit'], times: string) =>
  `date_trunc('${unit}', least(now() - interval '${lengths[unit]}', ${times}), 'UTC')`

/** What is to be filled: before when all is, null where nothing is; before when all can be; and where the oldest begins. */
export async function lookAt(
  connections: Connections,
  { table, sums, unit }: Filled,
): Promise<{ until: Date | null; over: Date; oldest: Date | null }> {
  const { rows } = await connections.query<{ until: Date | null; over: Date; oldest: Date | null }>(`
    SELECT (SELECT until FROM ${table}) AS until, ${overUntil(unit, `(${oldestUncounted})`)} AS over,
           (SELECT date_trunc('${unit}', at, 'UTC') FROM run_counts WHERE grain = ${sums[0].of} ORDER BY at LIMIT 1) AS oldest`)
  return rows[0]!
}

/** Up to when they are filled, in ms; 0 where none is. Never later than it can be, whatever the clock of the server has said. */
export async function readFilledUntil(pool: Queries, { table, lock, unit }: Filled): Promise<number> {
  const { rows } = await pool.query<{ until: Date }>({
    name: lock,
    text: `SELECT ${overUntil(unit, 'until')} AS until FROM ${table}`,
  })
  return rows[0]?.until.getTime() ?? 0
}

interface Filling {
  /** From when on and before when, in ms. */
  span: [from: number, to: number]
  /** Before when all was filled, in ms; undefined: nothing was. */
  was: number | undefined
  /** Before when all is filled then, in ms. */
  until: number
}

/** Writes the sums of a span, in a transaction of its own. False where another replica has the lock, or has filled since. */
export function fillSpan(
  connections: Connections,
  { table, lock, sums }: Filled,
  { span, was, until }: Filling,
): Promise<boolean> {
  return connections.transaction(async (client) => {
    await client.query(`SET LOCAL statement_timeout = ${fillTimeoutMs}`)
    const take = `SELECT pg_try_advisory_xact_lock(hashtextextended('${lock}', 0)) AS mine`
    if (!(await client.query<{ mine: boolean }>(take)).rows[0]?.mine) return false
    const said = (await client.query<{ until: Date }>(`SELECT until FROM ${table}`)).rows[0]
    if (said?.until.getTime() !== was) return false
    const values = span.map((ms) => new Date(ms))
    await client.query({ text: addSums(sums), values, query_timeout: fillTimeoutMs })
    const mark = `INSERT INTO ${table} (until) VALUES ($1) ON CONFLICT (one) DO UPDATE SET until = excluded.until`
    await client.query(mark, [new Date(until)])
    return true
  })
}

/** Fills what is said to be filled, of a team whose counts have come from elsewhere with what was filled there. */
export function fillOfTeam(connections: Connections, team: string, { table, sums }: Filled): Promise<void> {
  const span = `team = $1 AND at < (SELECT until FROM ${table}) AND at >= date_trunc('day', now(), 'UTC') - interval '3 days'`
  return connections.transaction(async (client) => {
    await client.query(`SET LOCAL statement_timeout = ${fillTimeoutMs}`)
    await client.query({ text: addSums(sums, span), values: [team], query_timeout: fillTimeoutMs })
  })
}
