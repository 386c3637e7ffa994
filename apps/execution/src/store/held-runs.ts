import { Status } from '@automation/contract/execution/v1/execution'
import { way } from '../status.ts'
import type { Language } from '@automation/contract/common/v1/language'
import { waits } from './statuses.ts'
import type { Queries } from './connections.ts'

/** A process, or a draft of it, with runs that wait for its packages. */
export interface HeldProcess {
  team: string
  processId: string
  /** Of a draft that has packages of its own. */
  versionId: string | null
}

interface ReleasedRun {
  pool: string
  language: Language
}

const [created, queued] = way(Status.CREATED, Status.QUEUED)

/** The most runs that one statement looks at. */
export const heldBatch = 1000

const noVersion = "'00000000-0000-0000-0000-000000000000'::uuid"

/** Processes with held runs, behind `after` in the order of teams and ids, a batch at most. */
export async function readHeldProcesses(pool: Queries, after?: HeldProcess): Promise<HeldProcess[]> {
  const { rows } = await pool.query<HeldProcess>({
    name: 'held-processes',
    text: `SELECT t.team, h.process_id AS "processId", h.version_id AS "versionId"
             FROM team_slots t CROSS JOIN LATERAL (
               SELECT DISTINCT e.process_id, e.version_id FROM executions e WHERE e.team = t.team AND ${waits} AND e.held) h
            WHERE t.queued > 0 AND t.moved_to IS NULL
              AND ($1::text IS NULL OR (t.team, h.process_id, coalesce(h.version_id, ${noVersion})) > ($1, $2::uuid, coalesce($3::uuid, ${noVersion})))
            ORDER BY t.team, h.process_id, coalesce(h.version_id, ${noVersion}) LIMIT ${heldBatch}`,
    values: [after?.team ?? null, after?.processId ?? null, after?.versionId ?? null],
  })
  return rows
}

/** Ids of a process's held runs, the oldest first, a batch at most. */
export async function readHeld(pool: Queries, { team, processId, versionId }: HeldProcess): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'held',
    text: `SELECT id FROM executions e WHERE team = $1 AND process_id = $2 AND version_id IS NOT DISTINCT FROM $3 AND ${waits} AND held
            ORDER BY id LIMIT ${heldBatch}`,
    values: [team, processId, versionId],
  })
  return rows.map(({ id }) => id)
}

/**
 * Lets the oldest of a process's held runs have slots, a batch at most. They stay CREATED for a moment.
 */
export async function releaseHeld(pool: Queries, { team, processId, versionId }: HeldProcess): Promise<ReleasedRun[]> {
  const { rows } = await pool.query<ReleasedRun>({
    name: 'release-held',
    text: `WITH old AS MATERIALIZED (
             SELECT id FROM executions e WHERE team = $1 AND process_id = $2 AND version_id IS NOT DISTINCT FROM $3 AND ${waits} AND held
              ORDER BY id LIMIT ${heldBatch} FOR UPDATE
           )
           UPDATE executions e SET held = false, updated_at = now(), released_at = now() FROM old o WHERE e.id = o.id RETURNING e.pool, e.language`,
    values: [team, processId, versionId],
  })
  return rows
}

/**
 * Runs that may have had slots for this long and have got none: from now on they are QUEUED, a batch at most. Until then
 * they go straight from CREATED to RUNNING, for some callers take every other status for an end.
 */
export async function queueReleased(pool: Queries, afterMs: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'queue-released',
    text: `WITH late AS MATERIALIZED (
             SELECT id, sequence + 1 AS sequence, pool, team, process_id FROM executions
              WHERE status = ${created} AND NOT held AND released_at < now() - $1 * interval '1 ms'
                AND EXISTS (SELECT FROM team_slots s WHERE s.team = executions.team AND s.moved_to IS NULL)
              ORDER BY id LIMIT ${heldBatch} FOR UPDATE SKIP LOCKED
           ), events AS (
             INSERT INTO timeline_events (execution_id, sequence, status, at, explanation, team, process_id)
             SELECT id, sequence, ${queued}, now(), format('Its packages are installed; it waits for a free slot in the pool %s', pool),
                    team, process_id FROM late
           )
           UPDATE executions e SET status = ${queued}, sequence = l.sequence, updated_at = now(), released_at = NULL FROM late l
            WHERE e.id = l.id RETURNING e.id`,
    values: [afterMs],
  })
  return rows.map(({ id }) => id)
}
