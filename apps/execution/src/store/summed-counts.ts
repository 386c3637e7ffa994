import type { Connections } from './connections.ts'

const fillTimeoutMs = 60_000

/** Rows of one grain that are sums of rows of another one, with expressions for the columns that are not theirs. */
export interface Sums {
  of: number
  grain: number
  at?: string
  processId?: string
  origin?: string
  /** The durations of one row, as an aggregate. */
  durations?: string
  /** For which rows. */
  which?: string
}

/**
 * A statement that writes sums: of rows from $1 on and before $2 where nothing else is said. All are there before the first
 * row is written, so that nobody who waits for open transactions to end waits while they are made; in the order of their
 * keys, in which all lock them, and in which they are read. Where what they are of is past retention, what is filled stays
 * as it is.
 */
export const addSums = (sums: Sums[], span = 'at >= $1 AND at < $2'): string => `
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
         sum(run_ms), sum(log_bytes), sum(cpu_ms), sum(memory_mb_ms), ${sums.durations ?? 'sum_counts(durations)'}
    FROM run_counts WHERE grain = ${of} AND ${span} AND ${which} GROUP BY team, 3, 4, 5, status`
}

export interface Filling {
  /** One replica at a time has it. */
  lock: string
  sums: Sums[]
  /** From when on and before when, in ms. */
  span: [from: number, to: number]
  /** The table of one row that says before when all is filled. */
  table: string
  /** What it has said, in ms; undefined: nothing. */
  was: number | undefined
  /** Before when all is filled then, in ms. */
  until: number
}

/** Writes the sums of a span, in a transaction of its own. False where another replica has the lock, or has filled since. */
export function fillSpan(connections: Connections, { lock, sums, span, table, was, until }: Filling): Promise<boolean> {
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

/** Fills what the table says to be filled, of a team whose counts have come from elsewhere with what was filled there. */
export function fillOfTeam(connections: Connections, team: string, sums: Sums[], table: string): Promise<void> {
  const span = `team = $1 AND at < (SELECT until FROM ${table}) AND at >= date_trunc('day', now(), 'UTC') - interval '3 days'`
  return connections.transaction(async (client) => {
    await client.query(`SET LOCAL statement_timeout = ${fillTimeoutMs}`)
    await client.query({ text: addSums(sums, span), values: [team], query_timeout: fillTimeoutMs })
  })
}
