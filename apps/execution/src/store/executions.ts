import type { Status } from '@automation/contract/execution/v1/execution'
import { firstFence, type Placed } from './start-rows.ts'
import type { Queries } from './connections.ts'

/** What arrivals with an unknown outcome have become; rows that are not there get no answer. */
export async function readPlaced(pool: Queries, ids: string[]): Promise<Placed[]> {
  const { rows } = await pool.query<Placed>({
    name: 'placed',
    text: `SELECT id, status, explanation, CASE WHEN fence = $2 THEN session_id END AS "sessionId"
             FROM executions WHERE id = ANY ($1::uuid[])`,
    values: [ids, firstFence],
    query_timeout: 1500,
  })
  return rows
}

/** The status of the moment with what was said of it, such as why it waits; undefined where the execution is gone. */
export async function readProgress(
  pool: Queries,
  id: string,
): Promise<{ status: Status; explanation?: string } | undefined> {
  const { rows } = await pool.query<{ status: Status; explanation: string | null }>({
    name: 'progress',
    text: `SELECT e.status, t.explanation FROM executions e
             LEFT JOIN timeline_events t ON t.execution_id = e.id AND t.sequence = e.sequence WHERE e.id = $1`,
    values: [id],
  })
  const [row] = rows
  return row && { status: row.status, explanation: row.explanation ?? undefined }
}

/** Undefined where the execution is gone. */
export async function readStatus(pool: Queries, id: string): Promise<Status | undefined> {
  const { rows } = await pool.query<{ status: Status }>({
    name: 'status',
    text: 'SELECT status FROM executions WHERE id = $1',
    values: [id],
  })
  return rows[0]?.status
}
