import type { Queries } from './connections.ts'
import { nextAppended, takingNumbers, type LogLine } from './log-pages.ts'
import { errorHandlerScope } from './start-keys.ts'

/** A failed run whose error handler could not be started yet. */
export interface LateErrorHandler {
  id: string
  team: string
  /** For how long the answer has been a fault, and not that something is away. */
  faultyMs: number
}

const longestPauseS = 30

/** It is tried a second from now; `isAway`: something is away, which is no fault. Does nothing where that is noted. */
export async function noteErrorHandler(pool: Queries, team: string, id: string, isAway: boolean): Promise<void> {
  await pool.query({
    name: 'error-handler-note',
    text: `INSERT INTO late_error_handlers (execution_id, team, next_try_at, faulty_from)
           VALUES ($1, $2, now() + interval '1 s', CASE WHEN NOT $3::boolean THEN now() END)
           ON CONFLICT (execution_id) DO NOTHING`,
    values: [id, team, isAway],
  })
}

/** The next try is some seconds from now, more after each. Does nothing where its team has taken it along to another cell. */
export async function postponeErrorHandler(pool: Queries, id: string, isAway: boolean): Promise<void> {
  await pool.query({
    name: 'error-handler-postpone',
    text: `UPDATE late_error_handlers
              SET tries = tries + 1, next_try_at = now() + least(2 ^ least(tries, 10), ${longestPauseS}) * interval '1 s',
                  faulty_from = CASE WHEN NOT $2::boolean THEN coalesce(faulty_from, now()) END
            WHERE execution_id = $1`,
    values: [id, isAway],
  })
}

/** It is started, or given up. */
export async function removeErrorHandler(pool: Queries, id: string): Promise<void> {
  await pool.query('DELETE FROM late_error_handlers WHERE execution_id = $1', [id])
}

/**
 * No error handler of a run is started any more, which a line in its log says; false where that was so before, one was
 * started, the run is removed, or the team has left. A team that moves knows by the key that the log has grown.
 */
export async function giveUpErrorHandler(
  pool: Queries,
  team: string,
  { id, keptDays, line }: { id: string; keptDays: number; line: LogLine },
): Promise<boolean> {
  const statement = {
    name: 'error-handler-give-up',
    text: `WITH given AS (
             INSERT INTO start_keys (team, scope, key, expires_at)
             SELECT s.team, '${errorHandlerScope}', $1::uuid::text, now() + make_interval(days => $3::integer)
               FROM team_slots s WHERE s.team = $2 AND s.moved_to IS NULL
             ON CONFLICT DO NOTHING RETURNING key::uuid AS id
           ), run AS (
             SELECT e.id FROM given g JOIN executions e USING (id) FOR KEY SHARE OF e
           )
           INSERT INTO log_chunks (execution_id, first, lines, body)
           SELECT r.id, ${nextAppended('r.id')}, 1, $4 FROM run r`,
    values: [id, team, keptDays, JSON.stringify([line])],
  }
  return (await takingNumbers(() => pool.query(statement))).rowCount === 1
}

/** How many wait for their next try, as far as 100,000. */
export async function countErrorHandlers(pool: Queries): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM (SELECT FROM late_error_handlers LIMIT 100000) AS waiting',
  )
  return rows[0]!.count
}

const claim = `
WITH RECURSIVE teams AS (
  (SELECT team FROM late_error_handlers ORDER BY team LIMIT 1)
  UNION ALL
  SELECT n.team FROM teams t CROSS JOIN LATERAL (
    SELECT team FROM late_error_handlers WHERE team > t.team ORDER BY team LIMIT 1) n
), due AS (
  SELECT l.execution_id FROM teams t CROSS JOIN LATERAL (
    SELECT execution_id FROM late_error_handlers
     WHERE team = t.team AND next_try_at <= now() ORDER BY next_try_at LIMIT $2) l
   WHERE t.team <> ALL ($3::text[]) AND EXISTS (SELECT FROM team_slots s WHERE s.team = t.team AND s.moved_to IS NULL)
), taken AS (
  SELECT l.execution_id FROM late_error_handlers l JOIN due USING (execution_id)
   WHERE l.next_try_at <= now() ORDER BY l.next_try_at LIMIT $1 FOR UPDATE OF l SKIP LOCKED
)
UPDATE late_error_handlers l SET next_try_at = now() + $4 * interval '1 ms' FROM taken t WHERE l.execution_id = t.execution_id
RETURNING l.execution_id AS id, l.team, coalesce(extract(epoch FROM now() - l.faulty_from) * 1000, 0)::float8 AS "faultyMs"`

export interface ClaimLimits {
  limit: number
  perTeam: number
  /** Teams that may have no more now. */
  busyTeams: string[]
  /** After this long another replica may try again. */
  leaseMs: number
}

/** Takes those that are due, of all teams of this cell. */
export async function claimErrorHandlers(
  pool: Queries,
  { limit, perTeam, busyTeams, leaseMs }: ClaimLimits,
): Promise<LateErrorHandler[]> {
  const values = [limit, perTeam, busyTeams, leaseMs]
  return (await pool.query<LateErrorHandler>({ name: 'error-handlers-claim', text: claim, values })).rows
}
