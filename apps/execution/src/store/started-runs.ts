import { dayOf } from '../execution-id.ts'
import type { Partitions } from './partitions.ts'
import type { Queries } from './connections.ts'

/** Who started an execution. */
export interface StartedRun {
  id: string
  team: string
  createdBy: string
  initiatedBy: string | null
  ip: string | null
  rerunOf: string | null
}

/** Of these executions those that are still kept, day by day. */
export async function readStartedRuns(pool: Queries, partitions: Partitions, ids: string[]): Promise<StartedRun[]> {
  const runs: StartedRun[] = []
  for (const [day, ofDay] of Map.groupBy(await partitions.kept(ids), dayOf)) {
    const { rows } = await pool.query<StartedRun>({
      name: `started-${day}`,
      text: `SELECT id, team, created_by AS "createdBy", initiated_by AS "initiatedBy", ip, rerun_of AS "rerunOf"
               FROM executions_${day} WHERE id = ANY ($1::uuid[])`,
      values: [ofDay],
    })
    runs.push(...rows)
  }
  return runs
}
