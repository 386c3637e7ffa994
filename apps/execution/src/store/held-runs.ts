import type { Language } from '@automation/contract/common/v1/language'
import type pg from 'pg'

/** A process with runs that wait for its packages. */
export interface HeldProcess {
  team: string
  processId: string
}

export interface ReleasedRun {
  pool: string
  language: Language
}

/** The most runs that one statement looks at. */
export const heldBatch = 1000

/** Processes with held runs, at most 1000. */
export async function readHeldProcesses(pool: pg.Pool): Promise<HeldProcess[]> {
  const { rows } = await pool.query<HeldProcess>({
    name: 'held-processes',
    text: `SELECT t.team, h.process_id AS "processId"
             FROM team_slots t CROSS JOIN LATERAL (
               SELECT DISTINCT e.process_id FROM executions e WHERE e.team = t.team AND e.status = 2 AND e.held) h
            WHERE t.queued > 0 ORDER BY t.team, h.process_id LIMIT ${heldBatch}`,
  })
  return rows
}

/** Ids of a process's held runs, the oldest first, a batch at most. */
export async function readHeld(pool: pg.Pool, { team, processId }: HeldProcess): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'held',
    text: `SELECT id FROM executions WHERE team = $1 AND process_id = $2 AND status = 2 AND held
            ORDER BY id LIMIT ${heldBatch}`,
    values: [team, processId],
  })
  return rows.map(({ id }) => id)
}

/** Lets the oldest of a process's held runs wait for places as others do, a batch at most. */
export async function releaseHeld(pool: pg.Pool, { team, processId }: HeldProcess): Promise<ReleasedRun[]> {
  const { rows } = await pool.query<ReleasedRun>({
    name: 'release-held',
    text: `WITH old AS MATERIALIZED (
             SELECT id FROM executions WHERE team = $1 AND process_id = $2 AND status = 2 AND held
              ORDER BY id LIMIT ${heldBatch} FOR UPDATE
           )
           UPDATE executions e SET held = false FROM old o WHERE e.id = o.id RETURNING e.pool, e.language`,
    values: [team, processId],
  })
  return rows
}
