import type { Connections, Queries } from './connections.ts'
import { grains } from './run-counts.ts'
import { fillOfTeam, fillSpan, lookAt, readFilledUntil, type Filled } from './summed-counts.ts'

const dayMs = 86_400_000
/** Runs that were killed may say later what they took: so long are days filled again. */
const refilledMs = 2 * dayMs

const days: Filled = {
  table: 'counted_days',
  lock: 'execution counted days',
  sums: [{ of: grains.hour, grain: grains.day, at: "date_trunc('day', at, 'UTC')" }],
  unit: 'day',
}

/**
 * Fills days from the hours of each process, oldest first, each day in a transaction of its own: those that have been over
 * for a day and whose events are all counted, and the last two of them anew. Who counts writes none of it, so that it holds
 * as well what replicas of the release before have counted. Where another replica fills days, it is left to it.
 */
export async function fillDays(connections: Connections, signal: AbortSignal): Promise<void> {
  const { until, over, oldest } = await lookAt(connections, days)
  const first = until === null ? oldest?.getTime() : Math.min(until.getTime(), over.getTime()) - refilledMs
  let was = until?.getTime()
  for (let day = first ?? Infinity; day < over.getTime() && !signal.aborted; day += dayMs) {
    const to = day + dayMs
    if (!(await fillSpan(connections, days, { span: [day, to], was, until: to }))) return
    was = to
  }
}

/** Fills the days of a team whose counts have come from elsewhere. */
export const fillDaysOfTeam = (connections: Connections, team: string): Promise<void> =>
  fillOfTeam(connections, team, days)

/** Up to when days are filled, as `readFilledUntil` has it. */
export const readDaysFilledUntil = (pool: Queries): Promise<number> => readFilledUntil(pool, days)
