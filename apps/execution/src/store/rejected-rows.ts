import { Status } from '@automation/contract/execution/v1/execution'
import { storedText } from './stored-text.ts'
import { arrivalParameters, oneArrival, rowColumns, type Arrival } from './new-run-columns.ts'
import { lastWord, lastWordBody } from './log-pages.ts'
import { keyValues, takenKey, type StartKey } from './start-keys.ts'
import type { Placed } from './start-rows.ts'
import { firstEvents } from './statuses.ts'
import type { Queries } from './connections.ts'

const replica = `$${arrivalParameters + 1}::uuid`
const why = `$${arrivalParameters + 2}::text`

const statement = `
WITH ${takenKey(arrivalParameters + 3)}, rows AS (
  INSERT INTO executions (${rowColumns}, status, sequence, fence, replica_id, slot, explanation, updated_at)
  SELECT ${rowColumns}, ${Status.REJECTED}, 2, 0, ${replica}, 0, ${why}, now() FROM ${oneArrival.rows} JOIN key k ON k.execution_id = i.id
  RETURNING id, team, process_id
), events AS (
  INSERT INTO timeline_events (execution_id, sequence, status, at, explanation, team, process_id)
  SELECT r.id, e.sequence, e.status, now(), CASE e.sequence WHEN 2 THEN ${why} END, r.team, r.process_id
    FROM rows r CROSS JOIN ${firstEvents(Status.CREATED, Status.REJECTED)} AS e(sequence, status)
), word AS (
  INSERT INTO log_chunks (execution_id, first, lines, body) SELECT id, ${lastWord}, 1, ${lastWordBody(why)} FROM rows
)
SELECT id FROM rows`

/** Writes a run under a key that was REJECTED at once; undefined where the key was there before, or its process is gone. */
export async function insertRejected(
  pool: Queries,
  arrival: Arrival,
  key: StartKey,
  reason: string,
  replicaId: string,
): Promise<Placed | undefined> {
  const explanation = storedText(reason)
  const values = [...oneArrival.values([arrival]), replicaId, explanation, ...keyValues(key)]
  const query = { name: 'start-rejected', text: statement, values, query_timeout: 1500 }
  const { rows } = await pool.query<{ id: string }>(query)
  return rows[0] && { id: rows[0].id, status: Status.REJECTED, explanation }
}
