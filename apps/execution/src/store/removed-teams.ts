import { Status } from '@automation/contract/execution/v1/execution'
import { among, endedStatuses, livingStatuses } from './statuses.ts'
import type { Queries } from './connections.ts'

/** Executions of a team that have not ended, or only those of them that run; at most 1000. */
export async function readLivingOfTeam(pool: Queries, team: string, alsoWaiting: boolean): Promise<string[]> {
  const statuses = alsoWaiting ? livingStatuses : among([Status.DEQUEUED, Status.RUNNING])
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM executions WHERE team = $1 AND status IN ${statuses} ORDER BY id LIMIT 1000`,
    [team],
  )
  return rows.map(({ id }) => id)
}

/**
 * Removes some ended executions of a team with their logs and timelines; not before each of these readers has seen their
 * events. Gives how many there were.
 */
export async function removeExecutionsOfTeam(
  pool: Queries,
  team: string,
  readers: string[],
  limit: number,
): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `WITH gone AS MATERIALIZED (
       SELECT e.id FROM executions e
        WHERE e.team = $1 AND e.status IN ${endedStatuses}
          AND NOT EXISTS (
            SELECT FROM timeline_events t
             WHERE t.execution_id = e.id AND t.xid >= (SELECT min(window_from) FROM bus_cursors WHERE consumer = ANY ($3)))
        ORDER BY e.id LIMIT $2 FOR UPDATE SKIP LOCKED
     ), logs AS (
       DELETE FROM log_chunks l USING gone g WHERE l.execution_id = g.id
     ), events AS (
       DELETE FROM timeline_events t USING gone g WHERE t.execution_id = g.id
     ), rows AS (
       DELETE FROM executions e USING gone g WHERE e.id = g.id
     )
     SELECT count(*)::integer AS count FROM gone`,
    [team, limit, readers],
  )
  return rows[0]!.count
}

/** Whether a team has executions, or audit records that the catalog does not have yet. */
export async function hasMoreOfTeam(pool: Queries, team: string): Promise<boolean> {
  const { rows } = await pool.query<{ more: boolean }>(
    `SELECT EXISTS (SELECT FROM executions WHERE team = $1) OR EXISTS (SELECT FROM audit_outbox WHERE team = $1) AS more`,
    [team],
  )
  return rows[0]!.more
}

const besides = [
  'callbacks',
  'start_keys',
  'webhook_refusals',
  'deleted_processes',
  'process_names',
  'run_counts',
  'team_slots',
]

/** Removes what is kept of a team without executions; gives how many rows there were. */
export async function removeRestOfTeam(pool: Queries, team: string): Promise<number> {
  let removed = 0
  for (const table of besides)
    removed += (await pool.query(`DELETE FROM ${table} WHERE team = $1`, [team])).rowCount ?? 0
  return removed
}
