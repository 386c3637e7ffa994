import type { Connections, Queries } from './connections.ts'
import { grains, oldestUncounted } from './run-counts.ts'
import { fillOfTeam, fillSpan, type Sums } from './summed-counts.ts'

const dayMs = 86_400_000
/** Runs that were killed may say later what they took: so long are days filled again. */
const refilledMs = 2 * dayMs

const table = 'counted_days'
const sums: Sums[] = [{ of: grains.hour, grain: grains.day, at: "date_trunc('day', at, 'UTC')" }]

/** In a statement, when the day began that was the last one to be over a day ago. */
const overUntil = (times: string) => `date_trunc('day', least(now() - interval '24 hours', ${times}), 'UTC')`

const look = `
SELECT (SELECT until FROM ${table}) AS until, ${overUntil(`(${oldestUncounted})`)} AS over,
       (SELECT date_trunc('day', at, 'UTC') FROM run_counts WHERE grain = ${grains.hour} ORDER BY at LIMIT 1) AS oldest`

/**
 * Fills days from the hours of each process, oldest first, each day in a transaction of its own: those that have been over
 * for a day and whose events are all counted, and the last two of them anew. Who counts writes none of it, so that it holds
 * as well what replicas of the release before have counted. Where another replica fills days, it is left to it.
 */
export async function fillDays(connections: Connections, signal: AbortSignal): Promise<void> {
  const { rows } = await connections.query<{ until: Date | null; over: Date; oldest: Date | null }>(look)
  const { until, over, oldest } = rows[0]!
  const first = until === null ? oldest?.getTime() : Math.min(until.getTime(), over.getTime()) - refilledMs
  let was = until?.getTime()
  for (let day = first ?? Infinity; day < over.getTime() && !signal.aborted; day += dayMs) {
    const to = day + dayMs
    const filling = { lock: 'execution counted days', sums, table, was, until: to }
    if (!(await fillSpan(connections, { ...filling, span: [day, to] }))) return
    was = to
  }
}

/** Fills the days of a team whose counts have come from elsewhere. */
export const fillDaysOfTeam = (connections: Connections, team: string): Promise<void> =>
  fillOfTeam(connections, team, sums, table)

/** Up to when days are filled, in ms; 0 where none is. Never later than it can be, whatever the clock of the server has said. */
export async function readDaysFilledUntil(pool: Queries): Promise<number> {
  const { rows } = await pool.query<{ until: Date }>({
    name: 'counted-days',
    text: `SELECT ${overUntil('until')} AS until FROM ${table}`,
  })
  return rows[0]?.until.getTime() ?? 0
}
