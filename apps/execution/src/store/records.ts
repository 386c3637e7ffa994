import { Origin, type Status } from '@automation/contract/execution/v1/execution'
import { ifWithinLimit } from '@automation/database'
import { notFound } from '@automation/errors'
import { installsProcessId } from '@automation/contract/installs'
import { isUuid } from '@automation/contract/forms'
import type { Queries } from './connections.ts'

/** An execution as it is shown. */
export interface RecordRow {
  id: string
  processId: string
  processName: string
  processSlug: string
  versionId: string | null
  scheduleId: string | null
  status: Status
  /** That of its last event. */
  sequence: number
  pool: string
  parameters: string | null
  request: string | null
  comment: string | null
  returnValue: string | null
  timeoutMs: number
  freshProcess: boolean
  callbackUrl: string | null
  initiatedBy: string | null
  createdBy: string
  updatedBy: string | null
  updatedAt: Date
  parentId: string | null
  rerunOf: string | null
  /** Null for some of those that older releases started. */
  origin: Origin | null
  tag: string | null
  trial: boolean
  requestReceivedAt: Date | null
  sourceMark: string | null
  /** Absent in lists. */
  startedAt: Date | null
  /** What its end was told with. */
  explanation: string | null
}

export interface EventRow {
  executionId: string
  sequence: number
  status: Status
  at: Date
  explanation: string | null
}

/** Executions of deleted processes are not shown, nor are installs. */
export const visible = `e.process_id <> '${installsProcessId}' AND NOT EXISTS (SELECT FROM deleted_processes d WHERE d.team = e.team AND d.process_id = e.process_id)`

/** In a statement, the origin of a run `e`: of those that older releases started, what else they have tells it, if anything. */
export const originOf = `coalesce(e.origin, CASE WHEN e.rerun_of IS NOT NULL THEN ${Origin.RERUN} WHEN e.schedule_id IS NOT NULL THEN ${Origin.SCHEDULE}
    WHEN e.parent_id IS NOT NULL THEN ${Origin.PROCESS} WHEN e.request IS NOT NULL THEN ${Origin.WEBHOOK} END)`

/** Columns of a record; in lists, values that are too large by the row `column_limit` are left out. */
export function recordColumns(list: boolean): string {
  const text = (column: string) => (list ? ifWithinLimit(column) : column)
  return `e.id, e.process_id AS "processId", e.process_name AS "processName", e.process_slug AS "processSlug",
    e.version_id AS "versionId", e.schedule_id AS "scheduleId", e.status, e.sequence, e.pool, ${text('e.parameters')} AS parameters,
    ${list ? 'NULL' : 'e.request'} AS request, ${list ? 'NULL' : 'e.started_at'} AS "startedAt", ${text('e.comment')} AS comment, ${text('e.return_value')} AS "returnValue",
    e.timeout_ms AS "timeoutMs", e.fresh_process AS "freshProcess", e.callback_url AS "callbackUrl",
    e.initiated_by AS "initiatedBy", e.created_by AS "createdBy", e.updated_by AS "updatedBy", e.updated_at AS "updatedAt",
    e.parent_id AS "parentId", e.rerun_of AS "rerunOf", ${originOf} AS origin, e.tag, e.trial, e.explanation,
    e.request_received_at AS "requestReceivedAt", e.source_mark AS "sourceMark"`
}

/** An execution as people see it; undefined where the team has none of this id. */
export async function readRecord(pool: Queries, team: string, id: string): Promise<RecordRow | undefined> {
  const { rows } = await pool.query<RecordRow>({
    name: 'record',
    text: `SELECT ${recordColumns(false)} FROM executions e WHERE e.id = $1 AND e.team = $2 AND ${visible}`,
    values: [id, team],
  })
  return rows[0]
}

/** The id, as it is stored, of an execution that is shown to a team. Failure execution_not_found. */
export async function visibleId(pool: Queries, team: string, id: string): Promise<string> {
  const key = id.toLowerCase()
  if (!isUuid(key)) throw notFound('execution')
  const { rows } = await pool.query({
    name: 'visible',
    text: `SELECT FROM executions e WHERE e.id = $1 AND e.team = $2 AND ${visible}`,
    values: [key, team],
  })
  if (rows.length === 0) throw notFound('execution')
  return key
}

/** The events of executions in their order, by execution id. */
export async function readTimelines(pool: Queries, ids: string[]): Promise<Map<string, EventRow[]>> {
  const { rows } = await pool.query<EventRow>({
    name: 'timelines',
    text: `SELECT execution_id AS "executionId", sequence, status, at, explanation
             FROM timeline_events WHERE execution_id = ANY ($1::uuid[]) ORDER BY execution_id, sequence`,
    values: [ids],
  })
  return Map.groupBy(rows, ({ executionId }) => executionId)
}

/** The id of the oldest execution, of all teams; undefined where there is none. */
export async function readOldest(pool: Queries): Promise<string | undefined> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM executions ORDER BY id LIMIT 1')
  return rows[0]?.id
}
