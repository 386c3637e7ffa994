import type { ScheduleRow } from '../schedule.ts'
import { scheduleColumns } from './schedules.ts'
import type { Store } from './store.ts'

/** A firing that somebody is to look at, with its schedule. */
export interface OpenFiring extends ScheduleRow {
  nominalAt: Date
  waits: boolean
  /** How long ago its nominal time was. */
  lateMs: number
  zoneId: string
  /** There is an earlier one of the schedule that is not decided; it waits itself. */
  behind: boolean
  behindWaiting: boolean
}

/** Takes firings that are due to be looked at; for `leaseMs` nobody else does. */
export function takeFirings(store: Store, limit: number, leaseMs: number): Promise<OpenFiring[]> {
  return store.query<OpenFiring>({
    name: 'take_firings',
    text: `WITH open AS (
             SELECT schedule_id, nominal_at FROM firings WHERE state < 3 AND due_at <= now()
              ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
           ), taken AS (
             UPDATE firings f SET due_at = now() + $2 * interval '1 ms' FROM open o
              WHERE f.schedule_id = o.schedule_id AND f.nominal_at = o.nominal_at
             RETURNING f.schedule_id, f.nominal_at, f.state
           ), ahead AS (
             SELECT t.schedule_id, t.nominal_at, max(f.state) AS state FROM taken t JOIN firings f
                 ON f.schedule_id = t.schedule_id AND f.nominal_at < t.nominal_at AND f.state < 3
              GROUP BY t.schedule_id, t.nominal_at
           )
           SELECT ${scheduleColumns}, z.zone_id AS "zoneId", t.nominal_at AS "nominalAt", t.state = 2 AS waits,
             extract(epoch FROM now() - t.nominal_at)::float8 * 1000 AS "lateMs",
             a.state IS NOT NULL AS behind, a.state IS NOT DISTINCT FROM 2 AS "behindWaiting"
             FROM taken t JOIN schedules s ON s.id = t.schedule_id JOIN team_zones z USING (team)
             LEFT JOIN ahead a ON a.schedule_id = t.schedule_id AND a.nominal_at = t.nominal_at`,
    values: [limit, leaseMs],
  })
}

/** A firing by its schedule and nominal time. */
export type FiringKey = Pick<OpenFiring, 'id' | 'nominalAt'>

/** It has started a run, also where it was given up meanwhile; false where that is known. */
export async function firingStarted(
  store: Store,
  { id, nominalAt }: FiringKey,
  executionId: string,
  versionId: string | undefined,
): Promise<boolean> {
  const rows = await store.query({
    name: 'firing_started',
    text: `WITH started AS (
             UPDATE firings SET state = 3, due_at = NULL, decided_at = now(), execution_id = $3, explanation = NULL
              WHERE schedule_id = $1 AND nominal_at = $2 AND state <> 3 RETURNING schedule_id
           ), last AS (
             UPDATE schedules s SET last_execution_id = $3, version_id = $4 FROM started f
              WHERE s.id = f.schedule_id AND (s.last_execution_id IS NULL OR s.last_execution_id < $3)
           )
           SELECT schedule_id FROM started`,
    values: [id, nominalAt, executionId, versionId ?? null],
  })
  return rows.length > 0
}

export async function skipFiring(store: Store, { id, nominalAt }: FiringKey, explanation: string): Promise<void> {
  await store.query({
    name: 'skip_firing',
    text: `UPDATE firings SET state = 4, due_at = NULL, decided_at = now(), explanation = $3
           WHERE schedule_id = $1 AND nominal_at = $2 AND state < 3`,
    values: [id, nominalAt, explanation],
  })
}

/** It is looked at again in `afterMs`; with `waits`, it waits for the run before it. */
export async function postponeFiring(
  store: Store,
  { id, nominalAt }: FiringKey,
  afterMs: number,
  explanation: string,
  waits: boolean,
): Promise<void> {
  await store.query({
    name: 'postpone_firing',
    text: `UPDATE firings SET state = CASE WHEN $5 THEN 2 ELSE state END, due_at = now() + $3 * interval '1 ms',
             explanation = $4 WHERE schedule_id = $1 AND nominal_at = $2 AND state < 3`,
    values: [id, nominalAt, afterMs, explanation, waits],
  })
}

/** Removes firings that were decided so many days ago, some at a time; gives how many. */
export async function removeOldFirings(store: Store, days: number, limit: number): Promise<number> {
  const removed = await store.query({
    name: 'remove_firings',
    text: `DELETE FROM firings WHERE (schedule_id, nominal_at) IN (
             SELECT schedule_id, nominal_at FROM firings WHERE state > 2 AND decided_at < now() - $1 * interval '1 day' LIMIT $2)
           RETURNING state`,
    values: [days, limit],
  })
  return removed.length
}

/** How many firings are not decided. */
export async function countOpenFirings(store: Store): Promise<number> {
  const [row] = await store.query<{ count: number }>({
    name: 'count_firings',
    text: 'SELECT count(*)::integer AS count FROM firings WHERE state < 3',
  })
  return row?.count ?? 0
}
