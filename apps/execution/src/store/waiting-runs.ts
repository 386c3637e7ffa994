import type { Language } from '@automation/contract/common/v1/language'
import { Status } from '@automation/contract/execution/v1/execution'
import type { Queries } from './connections.ts'
import { visible } from './records.ts'
import { waits } from './statuses.ts'

/** A run with what it may wait for. */
export interface WaitingRow {
  /** It is in the queue of its team. */
  waits: boolean
  status: Status
  pool: string
  language: Language
  /** So deep it was called by runs. */
  depth: number
  /** For packages. */
  held: boolean
  since: Date
  explanation: string | null
  /** Older runs of the team that wait in the pool; 1,000 stands for more. */
  ahead: number
  /** Of the team: what runs, and what ran before and goes on next. */
  running: number
  wanted: number
  /** The run whose code has started it holds a slot and goes on meanwhile. */
  parentHolds: boolean
}

const statement = `
WITH run AS (
  SELECT e.*, ${waits} AS waits FROM executions e WHERE e.id = $1 AND e.team = $2 AND ${visible}
)
SELECT run.waits, run.status, run.pool, run.language, run.depth, run.held, t.at AS since, t.explanation,
       (SELECT count(*) FROM (SELECT FROM executions e WHERE ${waits} AND run.waits AND e.team = run.team
                                 AND e.pool = run.pool AND e.id < run.id LIMIT 1000) older)::integer AS ahead,
       coalesce(s.running, 0) AS running, coalesce(s.wanted, 0) AS wanted,
       EXISTS (SELECT FROM executions p WHERE p.id = run.parent_id AND p.slot = 1 AND p.status = ${Status.RUNNING}) AS "parentHolds"
  FROM run
  JOIN timeline_events t ON t.execution_id = run.id AND t.sequence = run.sequence
  LEFT JOIN team_slots s ON s.team = run.team`

/** Undefined where the team is shown no such execution. */
export async function readWaitingRun(queries: Queries, team: string, id: string): Promise<WaitingRow | undefined> {
  const { rows } = await queries.query<WaitingRow>({ name: 'waiting-run', text: statement, values: [id, team] })
  return rows[0]
}
