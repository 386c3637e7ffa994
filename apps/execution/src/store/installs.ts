import type { Status } from '@automation/contract/execution/v1/execution'
import { installsProcessId } from '@automation/contract/installs'
import type { Queries } from './connections.ts'

export interface InstallRow {
  status: Status
  returnValue?: string
  explanation?: string
}

/** How an install of a team stands; undefined for what is none of its installs. */
export async function readInstall(pool: Queries, team: string, id: string): Promise<InstallRow | undefined> {
  const { rows } = await pool.query<{ status: Status; returnValue: string | null; explanation: string | null }>({
    name: 'install',
    text: `SELECT status, return_value AS "returnValue", explanation
             FROM executions WHERE id = $1 AND team = $2 AND process_id = $3::uuid`,
    values: [id, team, installsProcessId],
  })
  const [row] = rows
  if (row === undefined) return undefined
  return { status: row.status, returnValue: row.returnValue ?? undefined, explanation: row.explanation ?? undefined }
}
