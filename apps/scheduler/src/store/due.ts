import type { Due } from '../cron/next-due.ts'
import type { Store } from './store.ts'
import { dueTeams, teamsWith } from './turns.ts'

/** A schedule whose nominal time has come. */
interface DueSchedule {
  id: string
  revision: string
  cron: string | null
  dateTime: Date | null
  nextAt: Date
  zoneId: string
  now: Date
}

const dueColumns = `s.id, s.revision, s.cron, s.date_time AS "dateTime", s.next_at AS "nextAt", z.zone_id AS "zoneId",
             now() AS now`

/**
 * Schedules whose nominal time has come, the longest ago first; where there are too many, teams take turns. Other replicas
 * may see the same ones.
 */
export async function readDue(store: Store, limit: number): Promise<DueSchedule[]> {
  const first = await store.query<DueSchedule>({
    name: 'read_due',
    text: `SELECT ${dueColumns} FROM schedules s JOIN team_zones z USING (team)
           WHERE s.next_at <= now() ORDER BY s.next_at LIMIT $1`,
    values: [limit],
  })
  if (first.length < limit) return first
  return store.query<DueSchedule>({
    name: 'read_due_in_turns',
    text: `WITH RECURSIVE ${teamsWith('schedules', 'next_at IS NOT NULL')},
           ${dueTeams('schedules', 'next_at <= now()', '$1')}, due AS MATERIALIZED (
             SELECT d.id FROM due_teams t CROSS JOIN LATERAL (
               SELECT id, next_at, row_number() OVER (ORDER BY next_at) AS turn FROM schedules
                WHERE team = t.team AND next_at <= now() ORDER BY next_at LIMIT t.part
             ) d ORDER BY d.turn, d.next_at LIMIT $1
           )
           SELECT ${dueColumns} FROM due JOIN schedules s USING (id) JOIN team_zones z USING (team)`,
    values: [limit],
  })
}

/**
 * Makes firings of what is due, and moves their schedules on: each by one replica, those alone that are still as they
 * were read. One statement, so that a replica that stands still in between holds up nobody.
 */
export async function fireDue(store: Store, due: (Due & { id: string; revision: string })[]): Promise<void> {
  const dates = (of: (one: Due) => number | undefined) =>
    due.map((one) => {
      const time = of(one)
      return time === undefined ? null : new Date(time)
    })
  await store.query({
    name: 'fire_due',
    text: `WITH mine AS (
             SELECT i.*, s.team FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::text[])
                 AS i(id, revision, fires, missed, next, explanation)
               JOIN schedules s ON s.id = i.id AND s.revision = i.revision
              ORDER BY s.id FOR UPDATE OF s SKIP LOCKED
           ), moved AS (
             UPDATE schedules s SET next_at = m.next, revision = s.revision + 1 FROM mine m WHERE s.id = m.id
           ), missed AS (
             INSERT INTO firings (schedule_id, nominal_at, state, explanation, decided_at)
             SELECT id, missed, 4, explanation, now() FROM mine WHERE missed IS NOT NULL
             ON CONFLICT DO NOTHING
           )
           INSERT INTO firings (schedule_id, nominal_at, state, due_at, team)
           SELECT id, fires, 1, now(), team FROM mine WHERE fires IS NOT NULL ON CONFLICT DO NOTHING`,
    values: [
      due.map(({ id }) => id),
      due.map(({ revision }) => revision),
      dates(({ fires }) => fires),
      dates(({ missed }) => missed?.at),
      dates(({ next }) => next),
      due.map(({ missed }) => missed?.explanation ?? null),
    ],
  })
}

/** In how many ms the next schedule or firing is due; undefined where there is none. */
export async function untilNext(store: Store): Promise<number | undefined> {
  const [row] = await store.query<{ ms: number | null }>({
    name: 'until_next',
    text: `SELECT extract(epoch FROM least(
             (SELECT min(next_at) FROM schedules WHERE next_at IS NOT NULL),
             (SELECT min(due_at) FROM firings WHERE state < 3)) - clock_timestamp())::float8 * 1000 AS ms`,
  })
  return row?.ms ?? undefined
}
