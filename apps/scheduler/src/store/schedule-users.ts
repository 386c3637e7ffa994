import type { Store } from './store.ts'

/** A version by its tag and its id, or an alias by its name. */
export interface UsedName {
  team: string
  processId: string
  name: string
  versionId: string | undefined
}

export interface ScheduleUsers {
  users: { id: string; comment: string | null }[]
  count: number
}

const shown = 5
const shownCharacters = 60

/** The schedules that name it and may still fire: at most five, and how many there are. */
export async function findScheduleUsers(
  store: Store,
  { team, processId, name, versionId }: UsedName,
): Promise<ScheduleUsers> {
  const rows = await store.query<{ id: string; comment: string | null; count: number }>({
    name: 'schedule_users',
    text: `SELECT s.id, left(s.comment, ${shownCharacters}) AS comment, count(*) OVER ()::integer AS count FROM schedules s
           WHERE s.process_id = $2 AND s.team = $1 AND (s.tag = $3 OR lower(s.tag) = $4)
             AND (s.next_at IS NOT NULL OR s.paused
               OR EXISTS (SELECT FROM firings f WHERE f.schedule_id = s.id AND f.state < 3))
           ORDER BY s.id LIMIT ${shown}`,
    values: [team, processId, name, versionId?.toLowerCase() ?? null],
  })
  return { users: rows.map(({ id, comment }) => ({ id, comment })), count: rows[0]?.count ?? 0 }
}
