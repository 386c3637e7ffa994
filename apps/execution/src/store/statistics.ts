import { Status } from '@automation/contract/execution/v1/execution'
import { Grouping } from '@automation/contract/execution/v1/statistics'
import type { Queries } from './connections.ts'
import { durationOf, ofNoTrials } from './run-counts.ts'

/** What is summed up. Times in ms. */
export interface CountFilter {
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
  at: Date
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
 * In a statement, rows of counts for which `holds`, with their key: these columns of them. Such a statement has no name: its plan is to
 * be made for the spans that it is for, and one for all reads the whole table.
 */
const found = (by: Grouping, columns: string, holds = 'true') => `
  SELECT ${keys[by]} AS key, ${columns}
    FROM unnest($2::smallint[], $3::timestamptz[], $4::timestamptz[]) AS s (grain, since, until)
    JOIN run_counts r ON r.team = $1 AND r.grain = s.grain AND r.at >= s.since AND r.at < s.until
   WHERE ($5::uuid IS NULL OR process_id = $5) AND ${holds} LIMIT ${mostRows + 1}`

const valuesOf = ({ team, spans, processId }: CountFilter) => [
  team,
  spans.map(({ grain }) => grain),
  spans.map(({ fromMs }) => new Date(fromMs)),
  spans.map(({ toMs }) => new Date(toMs)),
  processId ?? null,
]

const bucket = `date_bin($6::bigint * interval '1 ms', at, 'epoch'::timestamptz) AS bucket`

const runsOf = (status: Status) => `coalesce(sum(runs) FILTER (WHERE status = ${status}), 0)::bigint`

/** The figures of all but trials by key and bucket, in their order, up to `most`; undefined where it is too much to be summed up. */
export async function readStatistics(
  pool: Queries,
  filter: CountFilter,
  { by, bucketMs, most }: { by: Grouping; bucketMs: number; most: number },
): Promise<StatisticsRow[] | undefined> {
  const text = `WITH counts AS MATERIALIZED (
      ${found(by, `${bucket}, status, runs, durations`, ofNoTrials)}
    ), sums AS (
      SELECT key, bucket, ${runsOf(RUNNING)} AS started, ${runsOf(FINISHED)} AS finished, ${runsOf(ERROR)} AS error,
             ${runsOf(KILLED)} AS killed, ${runsOf(REJECTED)} AS rejected, count(*) AS rows
        FROM counts GROUP BY key, bucket
    ), bins AS (
      SELECT key, bucket, bin, sum(n) AS n
        FROM (SELECT key, bucket, generate_subscripts(durations, 1) AS bin, unnest(durations) AS n FROM counts) AS d
       WHERE n > 0 GROUP BY key, bucket, bin
    ), ranked AS (
      SELECT key, bucket, bin, sum(n) OVER (PARTITION BY key, bucket ORDER BY bin) AS upto, sum(n) OVER (PARTITION BY key, bucket) AS total
        FROM bins
    ), percentiles AS (
      SELECT key, bucket, min(bin) FILTER (WHERE upto >= total * 0.5)::integer AS p50,
             min(bin) FILTER (WHERE upto >= total * 0.95)::integer AS p95
        FROM ranked GROUP BY key, bucket
    )
    SELECT s.key::text AS key, s.bucket AS at, started, finished, error, killed, rejected, p50, p95, sum(rows) OVER ()::integer AS rows
      FROM sums s LEFT JOIN percentiles USING (key, bucket) ORDER BY s.key::text, bucket LIMIT $7`
  const values = [...valuesOf(filter), bucketMs, most + 1]
  const { rows } = await pool.query<StatisticsRow & { rows: number }>({ text, values })
  if (rows.length > most || (rows[0]?.rows ?? 0) > mostRows) return undefined
  return rows.map(({ p50, p95, ...row }) => ({ ...row, p50: p50 && durationOf(p50), p95: p95 && durationOf(p95) }))
}

/** What the runs of one key have used. */
export interface UsageRow {
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
      FROM (${found(by, 'status, runs, run_ms, log_bytes, cpu_ms, memory_mb_ms')}) AS found
     GROUP BY key ORDER BY key::text LIMIT $6`
  const values = [...valuesOf(filter), most + 1]
  const { rows } = await pool.query<UsageRow & { rows: number }>({ text, values })
  return rows.length > most || (rows[0]?.rows ?? 0) > mostRows ? undefined : rows
}
