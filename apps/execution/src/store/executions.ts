import { Status } from '@automation/contract/execution/v1/execution'
import { firstFence, type StartOutcome } from './start-rows.ts'
import type { Queries } from './connections.ts'
import { isTerminal } from '../status.ts'
import { bytesOf } from './stored-text.ts'
import type { RunOutcome } from '../end/waiters.ts'
import { livingStatuses } from './statuses.ts'
import { installsProcessId } from '@automation/contract/installs'
import { dayOf } from '../execution-id.ts'
import type { Partitions } from './partitions.ts'

/** Those of these executions that are of these teams. */
export async function readOfTeams(pool: Queries, ids: string[], teams: string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await pool.query<{ id: string }>(
    'SELECT id FROM executions WHERE id = ANY ($1::uuid[]) AND team = ANY ($2::text[])',
    [ids, teams],
  )
  return rows.map(({ id }) => id)
}

/** What arrivals with an unknown outcome have become; rows that are not there get no answer. */
export async function readStartOutcomes(pool: Queries, ids: string[]): Promise<StartOutcome[]> {
  const { rows } = await pool.query<StartOutcome>({
    name: 'start-outcomes',
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

interface Row {
  id: string
  status: Status
  returnValue: string | null
  transient: boolean
  explanation: string | null
  errorLine: number | null
}

/** The outcomes of those of these runs that have ended, from their records. */
export async function readOutcomes(pool: Queries, ids: string[]): Promise<Map<string, RunOutcome>> {
  const { rows } = await pool.query<Row>({
    name: 'outcomes',
    text: `SELECT id, status, return_value AS "returnValue", transient, explanation,
                  error_line AS "errorLine"
             FROM executions WHERE id = ANY ($1::uuid[])`,
    values: [ids],
  })
  return new Map(rows.filter(({ status }) => isTerminal(status)).map((row) => [row.id, outcomeOf(row)]))
}

function outcomeOf({ status, returnValue, transient, explanation, errorLine }: Row): RunOutcome {
  if (transient) return { status, notKept: true }
  return {
    status,
    returnValue: status === Status.FINISHED ? bytesOf(returnValue ?? 'null') : undefined,
    explanation: explanation ?? undefined,
    errorLine: errorLine ?? undefined,
  }
}

/** The version that an execution is a run of, none for the current source, and why it was REJECTED; empty where it is gone. */
export async function readStarted(
  pool: Queries,
  team: string,
  id: string,
): Promise<{ versionId?: string; explanation?: string }> {
  const { rows } = await pool.query<{ versionId: string | null; explanation: string | null }>({
    name: 'started',
    text: `SELECT version_id AS "versionId", CASE WHEN status = ${Status.REJECTED} THEN explanation END AS explanation
             FROM executions WHERE id = $1 AND team = $2`,
    values: [id, team],
  })
  const [row] = rows
  return { versionId: row?.versionId ?? undefined, explanation: row?.explanation ?? undefined }
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

interface InstallRow {
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
