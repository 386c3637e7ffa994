import { Status } from '@automation/contract/execution/v1/execution'
import { lastOwnChunk } from './failure-words.ts'
import type { LogLine } from './log-pages.ts'
import { errorHandlerScope } from './start-keys.ts'
import type { Queries } from './connections.ts'

/** A run that has ended in ERROR, as far as an error handler is told of it. */
export interface FailedRun {
  id: string
  team: string
  processId: string
  processName: string
  scheduleId: string | null
  comment: string | null
  /** JSON text of an object. */
  parameters: string
  explanation: string | null
  /** It is an error handler's run itself, or was started from one, however far down. */
  isOfHandler: boolean
  /** The last line of what it has printed itself. */
  lastLine: LogLine | undefined
}

interface Row extends Omit<FailedRun, 'lastLine'> {
  lastChunk: string | null
}

const statement = `
WITH RECURSIVE callers AS (
  SELECT id, parent_id FROM executions WHERE id = $1
  UNION ALL
  SELECT e.id, e.parent_id FROM callers c JOIN executions e ON e.id = c.parent_id
)
SELECT e.id, e.team, e.process_id AS "processId", e.process_name AS "processName", e.schedule_id AS "scheduleId",
       e.comment, e.parameters, e.explanation,
       EXISTS (SELECT FROM callers c JOIN start_keys k ON k.execution_id = c.id AND k.scope = '${errorHandlerScope}') AS "isOfHandler",
       ${lastOwnChunk} AS "lastChunk"
  FROM executions e WHERE e.id = $1 AND e.team = $2 AND e.status = ${Status.ERROR} AND NOT e.trial`

/** The team's run of this id where it has ended in ERROR; trials are of no account. */
export async function readFailedRun(pool: Queries, team: string, id: string): Promise<FailedRun | undefined> {
  const { rows } = await pool.query<Row>({ name: 'failed-run', text: statement, values: [id, team] })
  if (rows[0] === undefined) return undefined
  const { lastChunk, ...run } = rows[0]
  return { ...run, lastLine: lastChunk === null ? undefined : (JSON.parse(lastChunk) as LogLine[]).at(-1) }
}
