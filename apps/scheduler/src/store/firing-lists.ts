import { countedUpTo, type Window } from '@automation/database'
import type { Store } from './store.ts'

/** What became of a nominal time of a schedule. */
export interface KeptFiring {
  scheduleId: string
  processId: string
  nominalAt: Date
  /** 1 due, 2 waits for the run before it, 3 started, 4 skipped. */
  state: number
  rejected: boolean
  executionId: string | null
  /** The beginning of it. */
  explanation: string | null
}

/** One by hand has from the start the reason that it ends with where its call leaves no word: none while that goes on. */
const isUnderWay = 'f.state < 3 AND f.given_up AND f.holder IS NOT NULL AND f.due_at > now()'

const firingColumns = `f.schedule_id AS "scheduleId", s.process_id AS "processId", f.nominal_at AS "nominalAt", f.state,
  f.rejected, f.execution_id AS "executionId",
  CASE WHEN ${isUnderWay} THEN NULL ELSE left(f.explanation, 300) END AS explanation`

/** A page of the firings of a schedule, newest first, and how many there are. */
export async function listFirings(
  store: Store,
  { team, id }: { team: string; id: string },
  { skip, take }: Window,
): Promise<{ rows: KeptFiring[]; total: number }> {
  const [rows, [count]] = await Promise.all([
    store.queryFor<KeptFiring>(team, {
      name: 'list_firings',
      text: `SELECT ${firingColumns} FROM firings f JOIN schedules s ON s.id = f.schedule_id
             WHERE f.schedule_id = $1 AND s.team = $2 ORDER BY f.nominal_at DESC LIMIT $3 OFFSET $4`,
      values: [id, team, take, skip],
    }),
    store.queryFor<{ total: number }>(team, {
      name: 'count_firings_of',
      text: `SELECT count(*)::integer AS total FROM (
               SELECT FROM firings WHERE schedule_id = $1 LIMIT ${countedUpTo}) AS counted`,
      values: [id],
    }),
  ])
  return { rows, total: count?.total ?? 0 }
}

/** A span of time with both its ends. */
export interface TimeSpan {
  from: Date
  to: Date
}

/** The team's firings with a nominal time in the span, at most so many, in no order. */
export function firingsBetween(store: Store, team: string, span: TimeSpan, limit: number): Promise<KeptFiring[]> {
  return store.queryFor<KeptFiring>(team, {
    name: 'firings_between',
    text: `SELECT ${firingColumns} FROM schedules s JOIN firings f ON f.schedule_id = s.id
             AND f.nominal_at >= $2 AND f.nominal_at <= $3
           WHERE s.team = $1 LIMIT $4`,
    values: [team, span.from, span.to, limit],
  })
}

/** A schedule that is due at least once until the end of a span. */
export interface ComingSchedule {
  id: string
  processId: string
  cron: string | null
  dateTime: Date | null
  nextAt: Date
}

/** The team's schedules that are due until `to`, at most so many, and the zone of their crons. */
export async function comingSchedules(
  store: Store,
  team: string,
  to: Date,
  limit: number,
): Promise<{ schedules: ComingSchedule[]; zoneId: string }> {
  const rows = await store.queryFor<ComingSchedule & { zoneId: string }>(team, {
    name: 'coming_schedules',
    text: `SELECT s.id, s.process_id AS "processId", s.cron, s.date_time AS "dateTime", s.next_at AS "nextAt",
             z.zone_id AS "zoneId"
           FROM schedules s JOIN team_zones z USING (team)
           WHERE s.team = $1 AND s.next_at <= $2 ORDER BY s.next_at LIMIT $3`,
    values: [team, to, limit],
  })
  return { schedules: rows, zoneId: rows[0]?.zoneId ?? 'UTC' }
}

/** The next nominal time of a process's schedules. */
export interface NextFiring {
  processId: string
  at: Date
}

/** When the next of the schedules of each of these processes is due; those of which nothing comes are left out. */
export function nextFirings(store: Store, team: string, processIds: string[]): Promise<NextFiring[]> {
  return store.queryFor<NextFiring>(team, {
    name: 'next_firings',
    text: `SELECT process_id AS "processId", min(next_at) AS at FROM schedules
           WHERE process_id = ANY ($2::uuid[]) AND team = $1 AND next_at IS NOT NULL GROUP BY process_id`,
    values: [team, processIds],
  })
}
