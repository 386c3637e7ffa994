import type { Connections, Queries } from './connections.ts'
import { addSums, fillSpan, sumsOfAll } from './counted-days.ts'
import { grains, oldestUncounted } from './run-counts.ts'

const hourMs = 3_600_000
/** What was committed late is counted late: an hour is filled again so long after it. */
const refilledAfterMs = 24 * hourMs

/** In a statement, when the hour began that was the last one to be over an hour ago. */
const overUntil = (times: string) => `date_trunc('hour', least(now() - interval '1 hour', ${times}), 'UTC')`

const look = `
SELECT (SELECT until FROM summed_minutes) AS until, ${overUntil(`(${oldestUncounted})`)} AS over,
       (SELECT date_trunc('hour', at, 'UTC') FROM run_counts WHERE grain = ${grains.minute} ORDER BY at LIMIT 1) AS oldest`

/**
 * Fills minutes of all processes from those of each, oldest first, each hour in a transaction of its own: those that have
 * been over for an hour and whose events are all counted, and with each the one of a day before anew. Where another replica
 * fills them, it is left to it.
 */
export async function fillMinutes(connections: Connections, signal: AbortSignal): Promise<void> {
  const { rows } = await connections.query<{ until: Date | null; over: Date; oldest: Date | null }>(look)
  const { until, over, oldest } = rows[0]!
  const first = until !== null && until > over ? over.getTime() - refilledAfterMs : (until ?? oldest)?.getTime()
  for (let hour = first ?? Infinity; hour < over.getTime() && !signal.aborted; hour += hourMs) {
    if (!(await fillHour(connections, hour - refilledAfterMs, hour))) return
    if (!(await fillHour(connections, hour, hour + hourMs))) return
  }
}

const fill = addSums(sumsOfAll(grains.minute, grains.minuteOfAll))

const mark = `INSERT INTO summed_minutes (until) VALUES ($1) ON CONFLICT (one) DO UPDATE SET until = excluded.until`

/** All are filled before `until` then. False where another replica fills an hour. */
function fillHour(connections: Connections, hour: number, until: number): Promise<boolean> {
  return fillSpan(connections, { lock: 'execution summed minutes', fill, span: [hour, hour + hourMs], mark, until })
}

/** Up to when they are filled, in ms; 0 where none is. Never later than it can be, whatever the clock of the server has said. */
export async function readMinutesFilledUntil(pool: Queries): Promise<number> {
  const { rows } = await pool.query<{ until: Date }>({
    name: 'summed-minutes',
    text: `SELECT ${overUntil('until')} AS until FROM summed_minutes`,
  })
  return rows[0]?.until.getTime() ?? 0
}
