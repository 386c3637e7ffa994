import type { Connections, Queries } from './connections.ts'
import { allProcesses, grains, ofNoTrials } from './run-counts.ts'
import { fillOfTeam, fillSpan, lookAt, readFilledUntil, type Filled } from './summed-counts.ts'

const hourMs = 3_600_000
/** What was committed late is counted late: an hour is filled again so long after it. */
const refilledAfterMs = 24 * hourMs

const ofAll = `'${allProcesses}'::uuid`

const minutes: Filled = {
  table: 'summed_minutes',
  lock: 'execution summed minutes',
  sums: [{ of: grains.minute, grain: grains.minuteOfAll, processId: ofAll }],
  unit: 'hour',
}
const hours: Filled = {
  table: 'summed_hours',
  lock: 'execution summed hours',
  sums: [
    { of: grains.hour, grain: grains.hourOfAll, processId: ofAll },
    { of: grains.hour, grain: grains.hourOfProcess, origin: '0::smallint', which: ofNoTrials },
  ],
  unit: 'hour',
}

/**
 * Fills minutes and hours of all processes, and hours of each process without its trials, of all its origins, oldest first,
 * each hour in a transaction of its own: those that have been over for an hour and whose events are all counted, and with
 * each the one of a day before anew. Where another replica fills them, it is left to it.
 */
export async function fillHours(connections: Connections, signal: AbortSignal): Promise<void> {
  for (const filled of [minutes, hours]) await fillHoursOf(connections, filled, signal)
}

async function fillHoursOf(connections: Connections, filled: Filled, signal: AbortSignal): Promise<void> {
  const { until, over, oldest } = await lookAt(connections, filled)
  const first = until !== null && until > over ? over.getTime() - refilledAfterMs : (until ?? oldest)?.getTime()
  let was = until?.getTime()
  /** All are filled before `before` then. */
  const fill = async (hour: number, before: number) => {
    const isFilled = await fillSpan(connections, filled, { span: [hour, hour + hourMs], was, until: before })
    was = before
    return isFilled
  }
  for (let hour = first ?? Infinity; hour < over.getTime() && !signal.aborted; hour += hourMs) {
    if (!(await fill(hour - refilledAfterMs, hour))) return
    if (!(await fill(hour, hour + hourMs))) return
  }
}

/** Fills the sums of a team whose counts have come from elsewhere. */
export async function fillHoursOfTeam(connections: Connections, team: string): Promise<void> {
  for (const filled of [minutes, hours]) await fillOfTeam(connections, team, filled)
}

/** Whether a team's hours are filled up to two days ago; they are not for some minutes behind the release that brings them. */
export async function areHoursFilled(pool: Queries, team: string): Promise<boolean> {
  const { rows } = await pool.query<{ left: boolean }>(
    `SELECT EXISTS (SELECT FROM run_counts WHERE team = $1 AND grain = ${grains.hour} AND at < now() - interval '2 days'
                       AND at >= coalesce((SELECT until FROM ${hours.table}), '-infinity')) AS left`,
    [team],
  )
  return rows[0]?.left !== true
}

/** Up to when minutes of all processes are filled, as `readFilledUntil` has it. */
export const readMinutesFilledUntil = (pool: Queries): Promise<number> => readFilledUntil(pool, minutes)

/** The same of hours, of all processes and of each. */
export const readHoursFilledUntil = (pool: Queries): Promise<number> => readFilledUntil(pool, hours)
