import { Status } from '@automation/contract/execution/v1/execution'
import { Grouping } from '@automation/contract/execution/v1/statistics'
import type { Queries } from './connections.ts'
import { durationsOfGroup, ofNoTrials, percentilesOf } from './run-counts.ts'

/** What is summed up. Times in ms. */
interface CountFilter {
  team: string
  /** Which rows make up the span, without a gap. */
  spans: CountSpan[]
  /** Undefined: of all processes. */
  processId?: string | undefined
}

/** Rows of one grain from one time on and before another one. */
export interface CountSpan {
  grain: number
  fromMs: number
  toMs: number
}

/** The figures of one key in one bucket, where there are any. */
export interface StatisticsRow {
  key: string
  /** When the bucket begins, in ms. */
  atMs: number
  started: string
  finished: string
  error: string
  killed: string
  rejected: string
  p50: number | null
  p95: number | null
}

/** Above so many rows of counts no sum is begun. */
const mostRows = 200_000

const { RUNNING, FINISHED, ERROR, KILLED, REJECTED } = Status

const keys: Record<Grouping, string> = {
  [Grouping.UNSPECIFIED]: `'all'::text`,
  [Grouping.PROCESS]: 'process_id',
  [Grouping.STATUS]: 'status',
  [Grouping.ORIGIN]: 'origin',
  [Grouping.DAY]: `to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
}

/**
 * In a statement, rows of counts for which `holds`, with their key: these columns of them. Each span is a branch of its own and such a
 * statement has no name, so that it is planned for what the spans hold: one plan for all reads the whole table.
 */
function found({ spans }: CountFilter, by: Grouping, columns: string, holds = 'true'): string {
  const branches = spans.map(({ grain }, nth) => {
    const [from, to] = [2 * nth + 3, 2 * nth + 4]
    return `SELECT ${keys[by]} AS key, ${columns} FROM run_counts
             WHERE team = $1 AND grain = ${grain} AND at >= $${from} AND at < $${to} AND ($2::uuid IS NULL OR process_id = $2) AND ${holds}`
  })
  return `SELECT * FROM (${branches.join(' UNION ALL ')}) AS branches LIMIT ${mostRows + 1}`
}

const valuesOf = ({ team, spans, processId }: CountFilter) => [
  team,
  processId ?? null,
  ...spans.flatMap(({ fromMs, toMs }) => [new Date(fromMs), new Date(toMs)]),
]

const runsOf = (status: Status) => `coalesce(sum(runs) FILTER (WHERE status = ${status}), 0)::bigint`

/** The figures of all but trials by key and bucket, in their order, up to `most`; undefined where it is too much to be summed up. */
export async function readStatistics(
  pool: Queries,
  filter: CountFilter,
  { by, bucketMs, most }: { by: Grouping; bucketMs: number; most: number },
): Promise<StatisticsRow[] | undefined> {
  const bucket = `date_bin(${bucketMs} * interval '1 ms', at, 'epoch'::timestamptz) AS bucket`
  const text = `
    SELECT key::text AS key, (extract(epoch FROM bucket) * 1000)::float8 AS "atMs", ${runsOf(RUNNING)} AS started,
           ${runsOf(FINISHED)} AS finished, ${runsOf(ERROR)} AS error, ${runsOf(KILLED)} AS killed, ${runsOf(REJECTED)} AS rejected,
           ${durationsOfGroup} AS durations, count(*)::integer AS rows
      FROM (${found(filter, by, `${bucket}, status, runs, durations`, ofNoTrials)}) AS found
     GROUP BY found.key, bucket ORDER BY found.key::text, bucket LIMIT ${most + 1}`
  type Row = Omit<StatisticsRow, 'p50' | 'p95'> & { durations: string | null; rows: number }
  const { rows } = await pool.query<Row>({ text, values: valuesOf(filter) })
  if (rows.length > most || rows.reduce((sum, row) => sum + row.rows, 0) > mostRows) return undefined
  return rows.map(({ durations, rows: _, ...row }) => {
    const [p50, p95] = percentilesOf(durations, [0.5, 0.95])
    return { ...row, p50, p95 }
  })
}

/** What the runs of one key have used. */
interface UsageRow {
  key: string
  runs: string
  runMs: string
  logBytes: string
  cpuMs: string
  memoryMbMs: string
}

/** What runs have used by key, trials among them, in their order, up to `most`; undefined where it is too much to be summed up. */
export async function readUsage(
  pool: Queries,
  filter: CountFilter,
  by: Grouping,
  most: number,
): Promise<UsageRow[] | undefined> {
  const text = `
    SELECT key::text AS key, ${runsOf(RUNNING)} AS runs, sum(run_ms)::bigint AS "runMs", sum(log_bytes)::bigint AS "logBytes",
           sum(cpu_ms)::bigint AS "cpuMs", sum(memory_mb_ms)::bigint AS "memoryMbMs", sum(count(*)) OVER ()::integer AS rows
      FROM (${found(filter, by, 'status, runs, run_ms, log_bytes, cpu_ms, memory_mb_ms')}) AS found
     GROUP BY key ORDER BY key::text LIMIT ${most + 1}`
  const { rows } = await pool.query<UsageRow & { rows: number }>({ text, values: valuesOf(filter) })
  return rows.length > most || (rows[0]?.rows ?? 0) > mostRows ? undefined : rows
}
