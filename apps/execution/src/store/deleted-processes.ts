import { deleteSomeOf } from '@automation/database'
import { endedStatuses, livingStatuses } from './statuses.ts'
import type { Connections, Queries } from './connections.ts'
import { freeDatabaseBytes } from './database-bytes.ts'

/**
 * From its commit on, executions of the process are hidden and new ones refused. Statements that began before may
 * still add some: they are over when the horizon has passed the transaction, whose number this gives.
 */
export async function insertDeletedProcess(pool: Queries, team: string, processId: string): Promise<string> {
  const { rows } = await pool.query<{ xid: string }>(
    `INSERT INTO deleted_processes (team, process_id) VALUES ($1, $2)
     ON CONFLICT (team, process_id) DO UPDATE SET removed_at = NULL
     RETURNING pg_current_xact_id()::text AS xid`,
    [team, processId],
  )
  return rows[0]!.xid
}

/** Whether all transactions that began before this one are over. */
export async function horizonPassed(pool: Queries, xid: string): Promise<boolean> {
  const { rows } = await pool.query<{ passed: boolean }>(
    'SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::xid8 AS passed',
    [xid],
  )
  return rows[0]!.passed
}

/** Executions of a process that have not ended. */
export async function readLiving(pool: Queries, team: string, processId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM executions WHERE team = $1 AND process_id = $2 AND status IN ${livingStatuses} ORDER BY id LIMIT 5000`,
    [team, processId],
  )
  return rows.map(({ id }) => id)
}

interface DeletedProcess {
  team: string
  processId: string
}

/** Deleted processes whose executions are not removed yet. */
export async function readUnremoved(pool: Queries): Promise<DeletedProcess[]> {
  const { rows } = await pool.query<DeletedProcess>(
    `SELECT team, process_id AS "processId" FROM deleted_processes WHERE removed_at IS NULL ORDER BY deleted_at LIMIT 100`,
  )
  return rows
}

const removed = `
WITH logs AS (
  DELETE FROM log_chunks WHERE execution_id = ANY ($1::uuid[])
), events AS (
  DELETE FROM timeline_events WHERE execution_id = ANY ($1::uuid[])
)
DELETE FROM executions WHERE id = ANY ($1::uuid[])`

/** Removes these executions with their logs and timelines. */
export async function removeExecutions(client: Queries, ids: string[]): Promise<void> {
  await client.query(removed, [ids])
}

/**
 * Removes some ended executions with their logs and timelines, of a process or of a whole team; not before each of these
 * readers has seen their events. Gives how many there were.
 */
export function removeSome(
  connections: Connections,
  { team, processId }: { team: string; processId?: string },
  readers: string[],
  limit: number,
): Promise<number> {
  // The locks in a statement of their own: record 0220.
  return connections.transaction(async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `SELECT e.id FROM executions e
        WHERE e.team = $1 AND ($2::uuid IS NULL OR e.process_id = $2) AND e.status IN ${endedStatuses}
          AND NOT EXISTS (
            SELECT FROM timeline_events t
             WHERE t.execution_id = e.id AND t.xid >= (SELECT min(window_from) FROM bus_cursors WHERE consumer = ANY ($4)))
        ORDER BY e.id LIMIT $3 FOR UPDATE SKIP LOCKED`,
      [team, processId ?? null, limit, readers],
    )
    const ids = rows.map(({ id }) => id)
    if (ids.length > 0) {
      await freeDatabaseBytes(client, ids)
      await removeExecutions(client, ids)
    }
    return ids.length
  })
}

/** Nothing of it is left; the mark itself stays for a while, and refuses what comes late. */
export async function markRemoved(pool: Queries, { team, processId }: DeletedProcess): Promise<void> {
  await pool.query(
    `WITH removed AS (
       UPDATE deleted_processes SET removed_at = now()
        WHERE team = $1 AND process_id = $2
          AND NOT EXISTS (SELECT FROM executions e WHERE e.team = $1 AND e.process_id = $2)
       RETURNING team, process_id
     ), refusals AS (
       DELETE FROM webhook_refusals w USING removed r WHERE w.team = r.team AND w.process_id = r.process_id
     )
     DELETE FROM process_names n USING removed r WHERE n.team = r.team AND n.process_id = r.process_id`,
    [team, processId],
  )
}

/**
 * Removes some marks of processes of which nothing was left before retention, so that no start and no move of their team can
 * bring anything of them any more; gives how many.
 */
export async function forgetDeletedProcesses(pool: Queries, retentionDays: number, batch: number): Promise<number> {
  const old = `removed_at < now() - make_interval(days => $1) AND NOT EXISTS (
    SELECT FROM executions e WHERE e.team = deleted_processes.team AND e.process_id = deleted_processes.process_id)`
  const { rowCount } = await pool.query(deleteSomeOf('deleted_processes', old, '$2'), [retentionDays + 1, batch])
  return rowCount ?? 0
}
