import { livingStatuses } from './statuses.ts'
import type { Queries } from './connections.ts'

/** The version that an execution is a run of; undefined for the current source, and where the execution is gone. */
export async function readVersionId(pool: Queries, team: string, id: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ versionId: string | null }>({
    name: 'version-of',
    text: 'SELECT version_id AS "versionId" FROM executions WHERE id = $1 AND team = $2',
    values: [id, team],
  })
  return rows[0]?.versionId ?? undefined
}

/** Which of these executions of a team have not ended. */
export async function readActive(pool: Queries, team: string, ids: string[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'active-of',
    text: `SELECT id FROM executions WHERE id = ANY ($1::uuid[]) AND team = $2 AND status IN ${livingStatuses}`,
    values: [ids, team],
  })
  return rows.map(({ id }) => id)
}
