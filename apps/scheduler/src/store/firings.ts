import type { ScheduleRow } from '../schedule.ts'
import { scheduleColumns } from './schedules.ts'
import type { Store } from './store.ts'
import { dueTeams, teamsWith } from './turns.ts'

/** A firing that somebody is to look at, with its schedule. */
export interface OpenFiring extends ScheduleRow {
  nominalAt: Date
  /** Names this look at it. Another one, by whichever replica, has another; the last one decides. */
  holder: string
  waits: boolean
  /** Somebody has asked for its run, and may have got it without its being noted. */
  asked: boolean
  /** Nothing is to be started for it any more. */
  givenUp: boolean
  /** Why it waits, or is given up. */
  explanation: string | null
  /** How long ago its nominal time was. */
  lateMs: number
  zoneId: string
  /** There is an earlier one of the schedule that is not decided; it waits itself. */
  behind: boolean
  behindWaiting: boolean
}

/** How many firings may be taken. */
export interface Capacity {
  /** In all. */
  most: number
  /** Of a team that has none yet. */
  share: number
  /** Of those that have some. */
  shares: Map<string, number>
}

/**
 * Takes firings that are due to be looked at, of each team in turn; nobody else does for `leaseMs` unless they are held
 * longer.
 */
export function takeFirings(store: Store, { most, share, shares }: Capacity, leaseMs: number): Promise<OpenFiring[]> {
  return store.query<OpenFiring>({
    name: 'take_firings',
    text: `WITH RECURSIVE ${teamsWith('firings', 'state < 3')},
           ${dueTeams('firings', 'state < 3 AND due_at <= now()', '$1')}, due AS MATERIALIZED (
             SELECT d.schedule_id, d.nominal_at FROM due_teams t
               LEFT JOIN unnest($4::text[], $5::integer[]) AS known(team, share) ON known.team = t.team
              CROSS JOIN LATERAL (
                SELECT schedule_id, nominal_at, due_at, row_number() OVER (ORDER BY due_at) AS turn FROM firings
                 WHERE team = t.team AND state < 3 AND due_at <= now() ORDER BY due_at
                 LIMIT least(t.part, coalesce(known.share, $3))
              ) d ORDER BY d.turn, d.due_at LIMIT $1
           ), open AS (
             SELECT f.schedule_id, f.nominal_at FROM due d
               JOIN firings f ON f.schedule_id = d.schedule_id AND f.nominal_at = d.nominal_at
              WHERE f.state < 3 AND f.due_at <= now() FOR UPDATE OF f SKIP LOCKED
           ), taken AS (
             UPDATE firings f SET due_at = now() + $2 * interval '1 ms', holder = gen_random_uuid(),
                 asked = asked OR holder IS NOT NULL
               FROM open o
              WHERE f.schedule_id = o.schedule_id AND f.nominal_at = o.nominal_at
             RETURNING f.schedule_id, f.nominal_at, f.holder, f.state, f.asked, f.given_up, f.explanation
           ), ahead AS (
             SELECT t.schedule_id, t.nominal_at, max(f.state) AS state FROM taken t JOIN firings f
                 ON f.schedule_id = t.schedule_id AND f.nominal_at < t.nominal_at AND f.state < 3
              GROUP BY t.schedule_id, t.nominal_at
           )
           SELECT ${scheduleColumns}, z.zone_id AS "zoneId", t.nominal_at AS "nominalAt", t.holder,
             t.state = 2 AS waits, t.asked, t.given_up AS "givenUp", t.explanation,
             extract(epoch FROM now() - t.nominal_at)::float8 * 1000 AS "lateMs",
             a.state IS NOT NULL AS behind, a.state IS NOT DISTINCT FROM 2 AS "behindWaiting"
             FROM taken t JOIN schedules s ON s.id = t.schedule_id JOIN team_zones z USING (team)
             LEFT JOIN ahead a ON a.schedule_id = t.schedule_id AND a.nominal_at = t.nominal_at`,
    values: [most, leaseMs, share, [...shares.keys()], [...shares.values()]],
  })
}

/** Nobody else looks at these for `leaseMs`; nothing where somebody else holds them by now. */
export async function holdFirings(store: Store, firings: HeldFiring[], leaseMs: number): Promise<void> {
  await store.query({
    name: 'hold_firings',
    // What is locked is being decided; waiting for it, with others locked, could end in a deadlock.
    text: `WITH held AS MATERIALIZED (
             SELECT f.schedule_id, f.nominal_at FROM firings f
               JOIN unnest($2::uuid[], $3::timestamptz[], $4::uuid[]) AS i(id, nominal_at, holder)
                 ON f.schedule_id = i.id AND f.nominal_at = i.nominal_at AND f.holder = i.holder
              WHERE f.state < 3 ORDER BY f.schedule_id, f.nominal_at FOR UPDATE OF f SKIP LOCKED
           )
           UPDATE firings f SET due_at = now() + $1 * interval '1 ms' FROM held h
            WHERE f.schedule_id = h.schedule_id AND f.nominal_at = h.nominal_at`,
    values: [
      leaseMs,
      firings.map(({ id }) => id),
      firings.map(({ nominalAt }) => nominalAt),
      firings.map(({ holder }) => holder),
    ],
  })
}

/** A firing by its schedule and nominal time. */
type FiringKey = Pick<OpenFiring, 'id' | 'nominalAt'>

/** A firing, and which look at it this is. */
type HeldFiring = FiringKey & Pick<OpenFiring, 'holder'>

/** A firing with its run, and what that is a run of. */
export interface StartedFiring extends FiringKey {
  executionId: string
  versionId: string | undefined
  /** Why the run is one that was REJECTED. */
  rejection?: string
}

/** They have started runs, whoever holds them; false for those that are known as started. */
export async function firingsStarted(store: Store, firings: StartedFiring[]): Promise<boolean[]> {
  const rows = await store.query<FiringKey>({
    name: 'firings_started',
    // Schedules are locked first, as where they are paused, then firings: each in one order, so that none wait in a circle.
    text: `WITH input AS (
             SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::uuid[], $5::text[])
               AS i(schedule_id, nominal_at, execution_id, version_id, rejection)
           ), held AS MATERIALIZED (
             SELECT id FROM schedules WHERE id IN (SELECT schedule_id FROM input) ORDER BY id FOR NO KEY UPDATE
           ), open AS MATERIALIZED (
             SELECT i.* FROM input i JOIN held h ON h.id = i.schedule_id
               JOIN firings f ON f.schedule_id = i.schedule_id AND f.nominal_at = i.nominal_at
              WHERE f.state < 3 ORDER BY f.schedule_id, f.nominal_at FOR UPDATE OF f
           ), started AS (
             UPDATE firings f SET state = 3, due_at = NULL, holder = NULL, decided_at = now(),
                 explanation = i.rejection, rejected = i.rejection IS NOT NULL, execution_id = i.execution_id
               FROM open i WHERE f.schedule_id = i.schedule_id AND f.nominal_at = i.nominal_at
             RETURNING f.schedule_id, f.nominal_at, i.execution_id, i.version_id
           ), noted AS (
             UPDATE schedules s SET last_execution_id = l.execution_id, last_nominal_at = l.nominal_at,
                 version_id = l.version_id
               FROM (SELECT DISTINCT ON (schedule_id) * FROM started ORDER BY schedule_id, nominal_at DESC) l
              WHERE s.id = l.schedule_id AND (s.last_nominal_at IS NULL OR s.last_nominal_at <= l.nominal_at)
           )
           SELECT schedule_id AS id, nominal_at AS "nominalAt" FROM started`,
    values: [
      firings.map(({ id }) => id),
      firings.map(({ nominalAt }) => nominalAt),
      firings.map(({ executionId }) => executionId),
      firings.map(({ versionId }) => versionId ?? null),
      firings.map(({ rejection }) => rejection ?? null),
    ],
  })
  const nameOf = ({ id, nominalAt }: FiringKey) => `${id} ${nominalAt.getTime()}`
  const started = new Set(rows.map(nameOf))
  return firings.map((firing) => started.has(nameOf(firing)))
}

/** No run comes of it; false, and nothing is changed, where somebody else holds it by now or it is decided. */
export async function skipFiring(
  store: Store,
  { id, nominalAt, holder }: HeldFiring,
  explanation: string,
): Promise<boolean> {
  const skipped = await store.query({
    name: 'skip_firing',
    text: `UPDATE firings SET state = 4, due_at = NULL, holder = NULL, decided_at = now(), explanation = $3
           WHERE schedule_id = $1 AND nominal_at = $2 AND state < 3 AND holder = $4 RETURNING state`,
    values: [id, nominalAt, explanation, holder],
  })
  return skipped.length > 0
}

/** Until when nobody looks at a firing, and why. */
interface Postponement {
  afterMs: number
  explanation: string
  /** It waits for the run before it. */
  waits: boolean
  /** It was asked for its run, without a clear answer. */
  asked?: boolean
  /** Whoever looks at it next starts nothing for it. */
  givesUp?: boolean
}

/** It is looked at again later, by whoever comes first; nothing is changed where somebody else holds it by now or it is decided. */
export async function postponeFiring(
  store: Store,
  { id, nominalAt, holder }: HeldFiring,
  { afterMs, explanation, waits, asked = false, givesUp = false }: Postponement,
): Promise<void> {
  await store.query({
    name: 'postpone_firing',
    text: `UPDATE firings SET state = CASE WHEN $5 THEN 2 ELSE state END, due_at = now() + $3 * interval '1 ms',
             holder = NULL, asked = asked OR $6,
             explanation = CASE WHEN given_up AND NOT $8 THEN explanation ELSE $4 END, given_up = given_up OR $8
           WHERE schedule_id = $1 AND nominal_at = $2 AND state < 3 AND holder = $7`,
    values: [id, nominalAt, afterMs, explanation, waits, asked, holder, givesUp],
  })
}

/** Removes firings that were decided so many days ago, some at a time; gives how many. */
export async function removeOldFirings(store: Store, days: number, limit: number): Promise<number> {
  const removed = await store.query({
    name: 'remove_firings',
    text: `WITH old AS MATERIALIZED (
             SELECT schedule_id, nominal_at FROM firings WHERE state > 2 AND decided_at < now() - $1 * interval '1 day'
              LIMIT $2 FOR UPDATE SKIP LOCKED
           )
           DELETE FROM firings f USING old o WHERE f.schedule_id = o.schedule_id AND f.nominal_at = o.nominal_at
           RETURNING f.state`,
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
