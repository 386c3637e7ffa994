import type { ScheduleRow } from '../schedule.ts'
import { scheduleColumns } from './schedules.ts'
import type { Store } from './store.ts'

/** A firing that somebody is to look at, with its schedule. */
export interface OpenFiring extends ScheduleRow {
  nominalAt: Date
  waits: boolean
  /** Somebody has asked for its run, and may have got it without its being noted. */
  asked: boolean
  /** Its schedule was paused meanwhile. */
  givenUp: boolean
  /** How long ago its nominal time was. */
  lateMs: number
  zoneId: string
  /** There is an earlier one of the schedule that is not decided; it waits itself. */
  behind: boolean
  behindWaiting: boolean
}

/** Which replica looks at a firing, and for how long nobody else does unless it says so again. */
export interface Holder {
  id: string
  leaseMs: number
}

/** Takes firings that are due to be looked at. */
export function takeFirings(store: Store, limit: number, { id, leaseMs }: Holder): Promise<OpenFiring[]> {
  return store.query<OpenFiring>({
    name: 'take_firings',
    text: `WITH open AS (
             SELECT schedule_id, nominal_at FROM firings WHERE state < 3 AND due_at <= now()
              ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
           ), taken AS (
             UPDATE firings f SET due_at = now() + $2 * interval '1 ms', holder = $3, asked = asked OR holder IS NOT NULL
               FROM open o
              WHERE f.schedule_id = o.schedule_id AND f.nominal_at = o.nominal_at
             RETURNING f.schedule_id, f.nominal_at, f.state, f.asked, f.given_up
           ), ahead AS (
             SELECT t.schedule_id, t.nominal_at, max(f.state) AS state FROM taken t JOIN firings f
                 ON f.schedule_id = t.schedule_id AND f.nominal_at < t.nominal_at AND f.state < 3
              GROUP BY t.schedule_id, t.nominal_at
           )
           SELECT ${scheduleColumns}, z.zone_id AS "zoneId", t.nominal_at AS "nominalAt", t.state = 2 AS waits,
             t.asked, t.given_up AS "givenUp",
             extract(epoch FROM now() - t.nominal_at)::float8 * 1000 AS "lateMs",
             a.state IS NOT NULL AS behind, a.state IS NOT DISTINCT FROM 2 AS "behindWaiting"
             FROM taken t JOIN schedules s ON s.id = t.schedule_id JOIN team_zones z USING (team)
             LEFT JOIN ahead a ON a.schedule_id = t.schedule_id AND a.nominal_at = t.nominal_at`,
    values: [limit, leaseMs, id],
  })
}

/** Nobody else looks at these, which this replica holds. */
export async function holdFirings(store: Store, firings: FiringKey[], { id, leaseMs }: Holder): Promise<void> {
  await store.query({
    name: 'hold_firings',
    text: `UPDATE firings f SET due_at = now() + $2 * interval '1 ms'
             FROM unnest($3::uuid[], $4::timestamptz[]) AS i(id, nominal_at)
            WHERE f.schedule_id = i.id AND f.nominal_at = i.nominal_at AND f.state < 3 AND f.holder = $1`,
    values: [id, leaseMs, firings.map((firing) => firing.id), firings.map(({ nominalAt }) => nominalAt)],
  })
}

/** A firing by its schedule and nominal time. */
export type FiringKey = Pick<OpenFiring, 'id' | 'nominalAt'>

/** A firing with its run, and what that is a run of. */
export interface StartedFiring extends FiringKey {
  executionId: string
  versionId: string | undefined
}

/** They have started runs; false for those that were decided meanwhile. */
export async function firingsStarted(store: Store, firings: StartedFiring[]): Promise<boolean[]> {
  const rows = await store.query<FiringKey>({
    name: 'firings_started',
    // Schedules are locked first, as where they are paused.
    text: `WITH input AS (
             SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::uuid[])
               AS i(schedule_id, nominal_at, execution_id, version_id)
           ), held AS MATERIALIZED (
             SELECT id FROM schedules WHERE id IN (SELECT schedule_id FROM input) ORDER BY id FOR NO KEY UPDATE
           ), started AS (
             UPDATE firings f SET state = 3, due_at = NULL, holder = NULL, decided_at = now(), explanation = NULL,
                 execution_id = i.execution_id
               FROM input i JOIN held h ON h.id = i.schedule_id
              WHERE f.schedule_id = i.schedule_id AND f.nominal_at = i.nominal_at AND f.state < 3
             RETURNING f.schedule_id, f.nominal_at, i.execution_id, i.version_id
           ), noted AS (
             UPDATE schedules s SET last_execution_id = l.execution_id, version_id = l.version_id
               FROM (SELECT DISTINCT ON (schedule_id) * FROM started ORDER BY schedule_id, nominal_at DESC) l
              WHERE s.id = l.schedule_id
           )
           SELECT schedule_id AS id, nominal_at AS "nominalAt" FROM started`,
    values: [
      firings.map(({ id }) => id),
      firings.map(({ nominalAt }) => nominalAt),
      firings.map(({ executionId }) => executionId),
      firings.map(({ versionId }) => versionId ?? null),
    ],
  })
  const nameOf = ({ id, nominalAt }: FiringKey) => `${id} ${nominalAt.getTime()}`
  const started = new Set(rows.map(nameOf))
  return firings.map((firing) => started.has(nameOf(firing)))
}

export async function skipFiring(store: Store, { id, nominalAt }: FiringKey, explanation: string): Promise<void> {
  await store.query({
    name: 'skip_firing',
    text: `UPDATE firings SET state = 4, due_at = NULL, holder = NULL, decided_at = now(), explanation = $3
           WHERE schedule_id = $1 AND nominal_at = $2 AND state < 3`,
    values: [id, nominalAt, explanation],
  })
}

/** Until when nobody looks at a firing, and why. */
export interface Postponement {
  afterMs: number
  explanation: string
  /** It waits for the run before it. */
  waits: boolean
  /** It was asked for its run, without a clear answer. */
  asked?: boolean
}

export async function postponeFiring(
  store: Store,
  { id, nominalAt }: FiringKey,
  { afterMs, explanation, waits, asked = false }: Postponement,
): Promise<void> {
  await store.query({
    name: 'postpone_firing',
    text: `UPDATE firings SET state = CASE WHEN $5 THEN 2 ELSE state END, due_at = now() + $3 * interval '1 ms',
             holder = NULL, asked = asked OR $6, explanation = $4 WHERE schedule_id = $1 AND nominal_at = $2 AND state < 3`,
    values: [id, nominalAt, afterMs, explanation, waits, asked],
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

/** How many firings are not decided, up to 100,000, and how long the first has been due that waits for no other run, in ms. */
export async function countOpenFirings(store: Store): Promise<{ count: number; oldestMs: number }> {
  const [row] = await store.query<{ count: number; oldestMs: number }>({
    name: 'count_firings',
    text: `SELECT count(*)::integer AS count,
             coalesce(extract(epoch FROM now() - min(nominal_at) FILTER (WHERE state = 1)), 0)::float8 * 1000 AS "oldestMs"
           FROM (SELECT state, nominal_at FROM firings WHERE state < 3 LIMIT 100000) open`,
  })
  return row ?? { count: 0, oldestMs: 0 }
}
