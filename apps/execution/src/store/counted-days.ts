import type { Connections, Queries } from './connections.ts'
import { allProcesses, grains, oldestUncounted } from './run-counts.ts'

const dayMs = 86_400_000
/** Runs that were killed may say later what they took: so long are days filled again. */
const refilledMs = 2 * dayMs
const fillTimeoutMs = 60_000

/** In a statement, when the day began that was the last one to be over a day ago. */
const overUntil = (times: string) => `date_trunc('day', least(now() - interval '24 hours', ${times}), 'UTC')`

const look = `
SELECT (SELECT CASE WHEN hours_until IS NOT NULL THEN least(until, hours_until) END FROM counted_days) AS until,
       ${overUntil(`(${oldestUncounted})`)} AS over,
       (SELECT date_trunc('day', at, 'UTC') FROM run_counts WHERE grain = ${grains.hour} ORDER BY at LIMIT 1) AS oldest`

/**
 * Fills days, and their hours of all processes, from the hours of each process, oldest first, each day in a transaction of
 * its own: those that have been over for a day and whose events are all counted, and the last two of them anew. Who counts
 * writes none of it, so that it holds as well what replicas of the release before have counted. Where another replica fills
 * days, it is left to it.
 */
export async function fillDays(connections: Connections, signal: AbortSignal): Promise<void> {
  const { rows } = await connections.query<{ until: Date | null; over: Date; oldest: Date | null }>(look)
  const { until, over, oldest } = rows[0]!
  const first = until === null ? oldest?.getTime() : Math.min(until.getTime(), over.getTime()) - refilledMs
  for (let day = first ?? Infinity; day < over.getTime() && !signal.aborted; day += dayMs)
    if (!(await fillDay(connections, day))) return
}

const ofSpan = 'at >= $1 AND at < $2'

/** In a statement, sums of rows of one grain, of a span from $1 on and before $2 where nothing else is said, as rows of another one. */
const sumsOf = (of: number, grain: number, at: string, processId: string, which = ofSpan) => `
  SELECT team, ${grain}::smallint AS grain, ${at} AS at, ${processId} AS process_id, origin, status, sum(runs) AS runs, sum(run_ms),
         sum(log_bytes), sum(cpu_ms), sum(memory_mb_ms), sum_counts(durations)
    FROM run_counts WHERE grain = ${of} AND ${which} GROUP BY team, 3, 4, origin, status`

/** In a statement, sums of all processes. */
export const sumsOfAll = (of: number, grain: number, which?: string): string =>
  sumsOf(of, grain, 'at', `'${allProcesses}'::uuid`, which)

/**
 * A statement that writes sums. In an order that the sums give: all are there before the first row is written, so that
 * nobody who waits for open transactions to end waits while they are made. Where what they are of is past retention, what is
 * filled stays as it is.
 */
export const addSums = (sums: string): string => `
INSERT INTO run_counts (team, grain, at, process_id, origin, status, runs, run_ms, log_bytes, cpu_ms, memory_mb_ms, durations)
${sums}
ORDER BY runs
    ON CONFLICT (team, grain, at, process_id, origin, status) DO UPDATE
   SET runs = excluded.runs, run_ms = excluded.run_ms, log_bytes = excluded.log_bytes, cpu_ms = excluded.cpu_ms,
       memory_mb_ms = excluded.memory_mb_ms, durations = excluded.durations
 WHERE excluded.runs >= run_counts.runs AND excluded.* IS DISTINCT FROM run_counts.*`

const fill = addSums(
  `${sumsOf(grains.hour, grains.day, '$1::timestamptz', 'process_id')} UNION ALL ${sumsOfAll(grains.hour, grains.hourOfAll)}`,
)

const mark = `
INSERT INTO counted_days (until, hours_until) VALUES ($1, $1)
    ON CONFLICT (one) DO UPDATE SET until = excluded.until, hours_until = excluded.hours_until`

// What was filled elsewhere has come along.
const ofTeamUntil = (until: string) =>
  `team = $1 AND at < (${until}) AND at >= date_trunc('day', now(), 'UTC') - interval '3 days'`
const ofDays = ofTeamUntil('SELECT least(until, hours_until) FROM counted_days')
const sumsOfTeam = [
  `${sumsOf(grains.hour, grains.day, "date_trunc('day', at, 'UTC')", 'process_id', ofDays)} UNION ALL ${sumsOfAll(grains.hour, grains.hourOfAll, ofDays)}`,
  sumsOfAll(grains.minute, grains.minuteOfAll, ofTeamUntil('SELECT until FROM summed_minutes')),
].map(addSums)

/** Fills what is said to be filled, of a team whose counts have come from elsewhere. */
export function fillDaysOfTeam(connections: Connections, team: string): Promise<void> {
  return connections.transaction(async (client) => {
    await client.query(`SET LOCAL statement_timeout = ${fillTimeoutMs}`)
    for (const text of sumsOfTeam) await client.query({ text, values: [team], query_timeout: fillTimeoutMs })
  })
}

/** False where another replica fills one. */
function fillDay(connections: Connections, day: number): Promise<boolean> {
  const to = day + dayMs
  return fillSpan(connections, { lock: 'execution counted days', fill, span: [day, to], mark, until: to })
}

export interface Filling {
  /** One replica at a time has it. */
  lock: string
  /** What `addSums` gives. */
  fill: string
  /** From when on and before when, in ms. */
  span: [from: number, to: number]
  /** A statement that notes that all before $1 is filled. */
  mark: string
  /** Before when all is filled then, in ms. */
  until: number
}

/** Writes the sums of a span, in a transaction of its own. False where another replica has the lock. */
export function fillSpan(connections: Connections, { lock, fill, span, mark, until }: Filling): Promise<boolean> {
  return connections.transaction(async (client) => {
    await client.query(`SET LOCAL statement_timeout = ${fillTimeoutMs}`)
    const take = `SELECT pg_try_advisory_xact_lock(hashtextextended('${lock}', 0)) AS mine`
    if (!(await client.query<{ mine: boolean }>(take)).rows[0]?.mine) return false
    const values = span.map((ms) => new Date(ms))
    await client.query({ text: fill, values, query_timeout: fillTimeoutMs })
    await client.query(mark, [new Date(until)])
    return true
  })
}

/** Up to when something is filled, in ms: 0 where nothing is. */
export interface FilledUntil {
  daysMs: number
  /** Of all processes together. */
  hoursMs: number
}

/** Never later than it can be, whatever the clock of the server has said. */
export async function readFilledUntil(pool: Queries): Promise<FilledUntil> {
  const { rows } = await pool.query<{ days: Date; hours: Date | null }>({
    name: 'counted-days',
    text: `SELECT ${overUntil('until')} AS days, CASE WHEN hours_until IS NOT NULL THEN ${overUntil('hours_until')} END AS hours
             FROM counted_days`,
  })
  return { daysMs: rows[0]?.days.getTime() ?? 0, hoursMs: rows[0]?.hours?.getTime() ?? 0 }
}
