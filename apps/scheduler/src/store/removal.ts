import type { Store } from './store.ts'

/** Deletes some of a team's schedules, of one process where it is given; gives how many. Their firings are to be removed. */
export async function deleteSomeSchedules(
  store: Store,
  { team, processId }: { team: string; processId?: string },
  limit: number,
): Promise<number> {
  const deleted = await store.queryFor(team, {
    name: 'delete_schedules',
    // Locked in the order in which firings note their runs.
    text: `WITH gone AS MATERIALIZED (
             SELECT id FROM schedules WHERE team = $1 AND ($2::uuid IS NULL OR process_id = $2)
              ORDER BY id LIMIT $3 FOR UPDATE
           )
           DELETE FROM schedules s USING gone g WHERE s.id = g.id RETURNING s.id`,
    values: [team, processId ?? null, limit],
  })
  return deleted.length
}

const firingsAtOnce = 5000

/**
 * Removes some firings of deleted schedules, of one team where it is given; gives how many rows, 0 where nothing is left
 * that nobody else removes.
 */
export async function removeSomeFirings(store: Store, team?: string): Promise<number> {
  const [row] = await store.query<{ removed: number }>({
    name: 'remove_firings_of_deleted',
    // By their places: joined with a batch, all firings might be read for it.
    text: `WITH gone AS MATERIALIZED (
             SELECT id FROM deleted_schedules WHERE $2::text IS NULL OR team = $2 ORDER BY id LIMIT 500
               FOR UPDATE SKIP LOCKED
           ), firing AS (
             DELETE FROM firings WHERE ctid = ANY (ARRAY(
               SELECT f.ctid FROM gone g CROSS JOIN LATERAL (
                 SELECT ctid FROM firings WHERE schedule_id = g.id LIMIT $1
               ) f LIMIT $1
             )) RETURNING state
           ), schedule AS (
             DELETE FROM deleted_schedules d USING gone g
              WHERE d.id = g.id AND NOT EXISTS (SELECT FROM firings f WHERE f.schedule_id = g.id) RETURNING d.id
           )
           SELECT ((SELECT count(*) FROM firing) + (SELECT count(*) FROM schedule))::integer AS removed`,
    values: [firingsAtOnce, team ?? null],
  })
  return row?.removed ?? 0
}
