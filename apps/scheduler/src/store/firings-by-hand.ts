import type pg from 'pg'
import type { ScheduleRow } from '../schedule.ts'

/**
 * A firing that somebody asks for, held by them for so long, and that nobody else starts anything for; the schedule must be
 * locked. Its nominal time is of no other firing, and never a whole second, as those of crons are. Undefined where another
 * one that it may not be beside is open, or is to be made: a firing waits for those of earlier times alone.
 */
export async function insertByHand(
  client: pg.ClientBase,
  { id, team, allowConcurrent }: ScheduleRow,
  { holder, leaseMs }: { holder: string; leaseMs: number },
): Promise<Date | undefined> {
  const { rows } = await client.query<{ nominalAt: Date }>({
    name: 'insert_by_hand',
    text: `WITH free AS (
             SELECT greatest(date_trunc('milliseconds', clock_timestamp()), max(nominal_at) + interval '1 ms') AS at
               FROM firings WHERE schedule_id = $1 AND nominal_at > now() - interval '1 hour'
           ), by_hand AS (
             SELECT CASE WHEN at = date_trunc('second', at) THEN at + interval '1 ms' ELSE at END AS nominal_at FROM free
           )
           INSERT INTO firings (schedule_id, nominal_at, state, due_at, team, holder, asked, given_up, explanation)
           SELECT $1, nominal_at, 1, now() + $3 * interval '1 ms', $2, $4, true, true,
             'The call that asked for it ended without an answer'
             FROM by_hand
            WHERE $5 OR NOT EXISTS (SELECT FROM firings WHERE schedule_id = $1 AND state < 3)
              AND NOT EXISTS (SELECT FROM schedules WHERE id = $1 AND next_at <= nominal_at)
           RETURNING nominal_at AS "nominalAt"`,
    values: [id, team, leaseMs, holder, allowConcurrent],
  })
  return rows[0]?.nominalAt
}
