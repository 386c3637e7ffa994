import { Origin, type Status } from '@automation/contract/execution/v1/execution'
import { columnLimit, ifWithinLimit, sizeOf } from '@automation/database'
import { lowestIdAt } from '../execution-id.ts'
import { storedText } from './stored-text.ts'
import type { Queries } from './connections.ts'

/** Of each process. */
export const keptRefusals = 100
/** Executions of a process among which those of its webhook are looked for. */
const lookedThrough = 10_000

/** A refused call of a webhook. */
export interface RefusalRow {
  /** A UUIDv7 of its time. */
  id: string
  team: string
  processId: string
  method: string
  bytes: bigint
  kind: string
  code: string
  reason: string
}

const insertion = `
INSERT INTO webhook_refusals (id, team, process_id, method, bytes, kind, code, reason)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[])
    AS i(id, team, process_id, method, bytes, kind, code, reason)
 WHERE NOT EXISTS (SELECT FROM deleted_processes d WHERE d.team = i.team AND d.process_id = i.process_id)`

// Behind the insertion: what other replicas have added counts, too.
const removal = `
DELETE FROM webhook_refusals r
 USING (SELECT DISTINCT * FROM unnest($1::text[], $2::uuid[])) AS p(team, process_id)
 WHERE r.team = p.team AND r.process_id = p.process_id
   AND r.id <= (SELECT o.id FROM webhook_refusals o WHERE o.team = p.team AND o.process_id = p.process_id
                 ORDER BY o.id DESC OFFSET ${keptRefusals} LIMIT 1)`

/** Adds refused calls, but for those of deleted processes; of each process the last ones stay. */
export async function insertRefusals(pool: Queries, rows: RefusalRow[]): Promise<void> {
  const teams = rows.map(({ team }) => team)
  const processes = rows.map(({ processId }) => processId)
  const values = [
    rows.map(({ id }) => id),
    teams,
    processes,
    rows.map(({ method }) => storedText(method)),
    rows.map(({ bytes }) => bytes),
    rows.map(({ kind }) => kind),
    rows.map(({ code }) => code),
    rows.map(({ reason }) => storedText(reason)),
  ]
  await pool.query({ name: 'webhook-refusals', text: insertion, values })
  await pool.query({ name: 'webhook-refusals-kept', text: removal, values: [teams, processes] })
}

/** Refused calls of a process, newest first. */
export async function readRefusals(pool: Queries, team: string, processId: string): Promise<RefusalRow[]> {
  const { rows } = await pool.query<Omit<RefusalRow, 'bytes'> & { bytes: string }>({
    name: 'webhook-refusals-list',
    text: `SELECT id, team, process_id AS "processId", method, bytes, kind, code, reason
             FROM webhook_refusals WHERE team = $1 AND process_id = $2 ORDER BY id DESC LIMIT ${keptRefusals}`,
    values: [team, processId],
  })
  return rows.map((row) => ({ ...row, bytes: BigInt(row.bytes) }))
}

/** A run that a call of a webhook has started. */
export interface DeliveredRow {
  id: string
  status: Status
  method: string
  bytes: string
  atOnce: boolean
  /** Of its last change. */
  updatedAt: Date
  /** Absent also where it is too large for a list. */
  returnValue: string | null
  /** The HTTP status of the answer, where it was told. */
  answeredStatus: number | null
  explanation: string | null
}

/** The last runs of a process that calls of its webhook have started, newest first. */
export async function readDelivered(pool: Queries, team: string, processId: string): Promise<DeliveredRow[]> {
  const { rows } = await pool.query<DeliveredRow>({
    name: 'webhook-delivered',
    text: `
      WITH last AS (
        SELECT * FROM executions WHERE team = $1 AND process_id = $2 ORDER BY id DESC LIMIT ${lookedThrough}
      ), e AS (
        SELECT * FROM last WHERE delivery_method IS NOT NULL AND origin = ${Origin.WEBHOOK} ORDER BY id DESC LIMIT ${keptRefusals}
      ), column_limit AS (${columnLimit('e', [sizeOf('e.return_value')])})
      SELECT e.id, e.status, e.delivery_method AS method, e.delivery_bytes AS bytes, e.answered_at_once AS "atOnce",
             e.updated_at AS "updatedAt", ${ifWithinLimit('e.return_value')} AS "returnValue", e.explanation,
             e.answered_status AS "answeredStatus"
        FROM e CROSS JOIN column_limit ORDER BY e.id DESC`,
    values: [team, processId],
  })
  return rows
}

/** Keeps the HTTP status that the caller of a webhook was answered; false where no webhook has started such a run. */
export async function setAnsweredStatus(pool: Queries, team: string, id: string, status: number): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'webhook-answered',
    text: 'UPDATE executions SET answered_status = $3 WHERE id = $1 AND team = $2 AND delivery_method IS NOT NULL',
    values: [id, team, status],
  })
  return rowCount === 1
}

/** Removes some that are past retention; gives how many. */
export async function forgetRefusals(pool: Queries, retentionDays: number, batch: number): Promise<number> {
  const before = lowestIdAt(Date.now() - retentionDays * 86_400_000)
  const { rowCount } = await pool.query({
    name: 'webhook-refusals-forget',
    text: 'DELETE FROM webhook_refusals WHERE id IN (SELECT id FROM webhook_refusals WHERE id < $1 ORDER BY id LIMIT $2)',
    values: [before, batch],
  })
  return rowCount ?? 0
}
