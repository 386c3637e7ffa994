import { Status } from '@automation/contract/execution/v1/execution'
import type { Queries } from './connections.ts'
import { durationsOfGroup, grains, ofNoTrials, percentilesOf } from './run-counts.ts'
import { among } from './statuses.ts'

/** The newest execution of a process. */
export interface LastExecutionRow {
  processId: string
  id: string
  status: Status
}

/** Of so many executions the newest that is no trial is looked for. */
const mostLooked = 100

/** The newest executions of the team's processes that are no trials; none of one whose newest hundred are trials. */
export async function readLastExecutions(
  pool: Queries,
  team: string,
  processIds: string[],
): Promise<LastExecutionRow[]> {
  const { rows } = await pool.query<LastExecutionRow>({
    name: 'last-executions',
    text: `SELECT p.id AS "processId", last.id, last.status FROM unnest($2::uuid[]) AS p(id) CROSS JOIN LATERAL (
             SELECT id, status FROM (
               SELECT e.id, e.status, e.trial FROM executions e WHERE e.team = $1 AND e.process_id = p.id
                ORDER BY e.id DESC LIMIT ${mostLooked}) AS newest
              WHERE NOT trial ORDER BY id DESC LIMIT 1) AS last`,
    values: [team, processIds],
  })
  return rows
}

/** How the runs of a process went. */
interface ProcessFiguresRow {
  processId: string
  /** Those that have ended. */
  runs: string
  failed: string
  /** In ms; null where none has ended that ran. */
  p95: number | null
}

const failures = among([Status.ERROR, Status.KILLED, Status.REJECTED])

/** The figures of processes with runs in hours that begin at these times, in ms; those of trials are left out. */
export async function readProcessFigures(
  pool: Queries,
  team: string,
  processIds: string[],
  hours: number[],
): Promise<ProcessFiguresRow[]> {
  type Row = Omit<ProcessFiguresRow, 'p95'> & { durations: string | null }
  const { rows } = await pool.query<Row>({
    name: 'process-figures',
    text: `SELECT process_id AS "processId", coalesce(sum(runs) FILTER (WHERE status <> ${Status.RUNNING}), 0)::bigint AS runs,
                  coalesce(sum(runs) FILTER (WHERE status IN ${failures}), 0)::bigint AS failed, ${durationsOfGroup} AS durations
             FROM run_counts
            WHERE team = $1 AND grain = ${grains.hour} AND at = ANY ($2::timestamptz[]) AND process_id = ANY ($3::uuid[]) AND ${ofNoTrials}
            GROUP BY process_id`,
    values: [team, hours.map((at) => new Date(at)), processIds],
  })
  return rows.map(({ durations, ...row }) => ({ ...row, p95: percentilesOf(durations, [0.95])[0] }))
}
