import { installsProcessId } from '@automation/contract/installs'
import { Status } from '@automation/contract/execution/v1/execution'
import type { Connections, Queries } from './connections.ts'
import { isWaiting } from './event-numbers.ts'
import { countDatabaseBytes } from './database-bytes.ts'
import { originOf } from './records.ts'
import { endedStatuses } from './statuses.ts'

/** Whose cursor says which events are counted. */
export const runCountsReader = 'statistics'

/**
 * Spans of time that rows of counts are of. All but `minute` and `hour` are no more than sums of those: days, hours and
 * minutes of all processes, and hours of each process without its trials, of all its origins. Who counts writes none.
 */
export const grains = { minute: 1, hour: 2, day: 3, hourOfAll: 4, minuteOfAll: 5, hourOfProcess: 6 } as const
/** In rows of all processes, the id of the process. */
export const allProcesses = '00000000-0000-0000-0000-000000000000'
/** For how long minutes are kept, in ms. */
export const minutesKeptMs = 7 * 24 * 3_600_000

/** Durations are told apart by quarters of powers of two of milliseconds, up to some hours. */
const mostBins = 100
const binOf = `least(1 + floor(ln(greatest(ms, 1)) / ln(2) * 4), ${mostBins})::integer`

/** In a statement, the durations of a group of rows, for `percentilesOf`, which adds them up in a fraction of a server's time. */
export const durationsOfGroup = `string_agg(durations::text, '') FILTER (WHERE durations <> '{}')`

/** The durations in ms that these parts of the runs did not exceed, at most a tenth away; null without any. */
export function percentilesOf<const P extends readonly number[]>(
  durations: string | null,
  parts: P,
): { [K in keyof P]: number | null } {
  const bins = binsIn(durations ?? '')
  const total = bins.reduce((sum, runs) => sum + runs, 0)
  return parts.map((part) => {
    let upto = 0
    const found = total === 0 ? -1 : bins.findIndex((runs) => (upto += runs) >= total * part)
    return found < 0 ? null : Math.round(2 ** ((found + 0.5) / 4))
  }) as { [K in keyof P]: number | null }
}

/** How many runs lasted how long, by bin: the sums of arrays such as `{0,3}{1,0,2}`. */
function binsIn(durations: string): number[] {
  const bins: number[] = []
  let bin = 0
  let runs = 0
  for (let at = 0; at < durations.length; at += 1) {
    const code = durations.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) {
      runs = runs * 10 + code - 0x30
      continue
    }
    // Behind a comma comes the next bin, behind a brace the next array.
    if (code !== 0x7b) bins[bin] = (bins[bin] ?? 0) + runs
    bin = code === 0x2c ? bin + 1 : 0
    runs = 0
  }
  return bins
}

/**
 * In a statement, the origin that a run `e` is counted by: that of a trial is below 0, as a trial uses what others do and
 * says nothing of how its process fares.
 */
const countedOrigin = `CASE WHEN e.trial THEN -1 - coalesce(${originOf}, 0) ELSE ${originOf} END`
/** In a statement, that rows of counts are not of trials. */
export const ofNoTrials = 'origin >= 0'

/** Runs that are counted together. */
interface Group {
  team: string
  processId: string
  /** Below 0 for trials. */
  origin: number
  status: Status
  at: Date
  /** Of their durations; null where they did not run, or have not ended. */
  bin: number | null
  runs: number
  runMs: string
  logBytes: string
  cpuMs: string
  memoryMbMs: string
}

/** What there is to be counted. */
interface Uncounted {
  /** Where it begins. */
  from: bigint
  /** In the numbers of this server's transactions: below it, nothing can appear any more. */
  horizon: bigint
}

/** Undefined where all is counted. Writes nothing. */
export async function findUncounted(pool: Queries): Promise<Uncounted | undefined> {
  const { rows } = await pool.query<Record<keyof Uncounted, string>>({
    name: 'run-counts-look',
    text: `SELECT c.window_from AS "from", pg_snapshot_xmin(pg_current_snapshot()) AS horizon FROM bus_cursors c
            WHERE c.consumer = '${runCountsReader}' AND EXISTS (SELECT FROM timeline_events t WHERE ${isWaiting})`,
  })
  return rows[0] && { from: BigInt(rows[0].from), horizon: BigInt(rows[0].horizon) }
}

/** A statement for the time of the oldest event that is not counted; without a row where all are. */
export const oldestUncounted = `
SELECT t.at FROM bus_cursors c CROSS JOIN LATERAL (
         SELECT at FROM timeline_events t WHERE ${isWaiting} ORDER BY t.xid, t.position LIMIT 1) t
 WHERE c.consumer = '${runCountsReader}'`

/** How long ago the oldest event was that is not counted, in ms; 0 where all are. */
export async function readCountingLagMs(pool: Queries): Promise<number> {
  const { rows } = await pool.query<{ ms: number }>({
    name: 'run-counts-lag',
    text: `SELECT greatest(extract(epoch FROM clock_timestamp() - at) * 1000, 0)::float8 AS ms FROM (${oldestUncounted}) AS oldest`,
  })
  return rows[0]?.ms ?? 0
}

const counted = `
WITH picked AS MATERIALIZED (
  SELECT execution_id, status, at, team, process_id FROM timeline_events
   WHERE xid >= $1::xid8 AND xid < $2::xid8 AND (status = ${Status.RUNNING} OR status IN ${endedStatuses})
     AND process_id <> '${installsProcessId}'
), known AS (
  SELECT p.team, p.process_id, p.status, p.at, e.origin, e.cpu_ms, e.memory_mb,
         CASE WHEN p.status <> ${Status.RUNNING} AND e.started_at IS NOT NULL THEN greatest(extract(epoch FROM p.at - e.started_at) * 1000, 0)::bigint END AS ms,
         CASE WHEN p.status <> ${Status.RUNNING} THEN (
           SELECT sum(octet_length(body)) FROM log_chunks l WHERE l.execution_id = p.execution_id) END AS log_bytes
    FROM picked p LEFT JOIN LATERAL (
      SELECT ${countedOrigin} AS origin, e.started_at, e.cpu_ms, e.memory_mb FROM executions e WHERE e.id = p.execution_id LIMIT 1) e ON true
)
SELECT team, process_id AS "processId", coalesce(origin, 0) AS origin, status, date_trunc('minute', at, 'UTC') AS at,
       CASE WHEN ms IS NOT NULL THEN ${binOf} END AS bin, count(*)::integer AS runs, coalesce(sum(ms), 0)::bigint AS "runMs",
       coalesce(sum(log_bytes), 0)::bigint AS "logBytes",
       coalesce(sum(cpu_ms) FILTER (WHERE ms IS NOT NULL), 0)::bigint AS "cpuMs",
       coalesce(sum(memory_mb * ms), 0)::bigint AS "memoryMbMs"
  FROM known GROUP BY 1, 2, 3, 4, 5, 6`

const add = `
INSERT INTO run_counts (team, grain, at, process_id, origin, status, runs, run_ms, log_bytes, cpu_ms, memory_mb_ms, durations)
SELECT team, grain, at, process_id, origin, status, runs, run_ms, log_bytes, cpu_ms, memory_mb_ms, durations::integer[]
  FROM unnest($1::text[], $2::smallint[], $3::timestamptz[], $4::uuid[], $5::smallint[], $6::smallint[], $7::bigint[], $8::bigint[],
              $9::bigint[], $10::bigint[], $11::bigint[], $12::text[])
    AS n(team, grain, at, process_id, origin, status, runs, run_ms, log_bytes, cpu_ms, memory_mb_ms, durations)
    ON CONFLICT (team, grain, at, process_id, origin, status) DO UPDATE
   SET runs = run_counts.runs + excluded.runs, run_ms = run_counts.run_ms + excluded.run_ms,
       log_bytes = run_counts.log_bytes + excluded.log_bytes, cpu_ms = run_counts.cpu_ms + excluded.cpu_ms,
       memory_mb_ms = run_counts.memory_mb_ms + excluded.memory_mb_ms,
       durations = add_counts(run_counts.durations, excluded.durations)`

const stepTimeoutMs = 3000

/**
 * Counts the next events: about so many, and those of the last transaction among them. `added` is what the numbers of
 * events are ahead of those of transactions. The counts and how far they go are one transaction, so each is counted once,
 * whatever becomes of it. Gives whether there may be more; false as well where another replica counts.
 */
export function countRuns(connections: Connections, events: number, added: bigint): Promise<boolean> {
  return connections.transaction(async (client) => {
    await client.query(`SET LOCAL statement_timeout = ${stepTimeoutMs}`)
    const window = await nextWindow(client, events, added)
    if (window === undefined) return false
    const { from, to, isLast } = window
    const { rows } = await client.query<Group>({ name: 'run-counts-read', text: counted, values: [from, to] })
    const counts = countsOf(rows)
    if (counts.length > 0) await client.query({ name: 'run-counts-add', text: add, values: columnsOf(counts) })
    await countDatabaseBytes(client, from, to)
    await client.query({
      name: 'run-counts-moved',
      text: `UPDATE bus_cursors SET window_from = $1::xid8, window_to = $1::xid8, position = 0 WHERE consumer = '${runCountsReader}'`,
      values: [to],
    })
    return !isLast
  })
}

interface EventWindow {
  from: string
  to: string
  /** It ends where nothing is decided yet. */
  isLast: boolean
}

async function nextWindow(client: Queries, events: number, added: bigint): Promise<EventWindow | undefined> {
  const { rows } = await client.query<EventWindow>({
    name: 'run-counts-window',
    text: `WITH c AS MATERIALIZED (
             SELECT window_from, ((pg_snapshot_xmin(pg_current_snapshot())::text::bigint + $2::bigint)::text)::xid8 AS horizon
               FROM bus_cursors WHERE consumer = '${runCountsReader}' FOR UPDATE SKIP LOCKED
           ), w AS (
             SELECT window_from, horizon, least(horizon, (SELECT ((xid::text::bigint + 1)::text)::xid8 FROM timeline_events
                      WHERE xid >= c.window_from ORDER BY xid OFFSET $1::integer LIMIT 1)) AS upto FROM c
           )
           SELECT window_from AS "from", upto AS "to", upto = horizon AS "isLast" FROM w WHERE upto > window_from`,
    values: [events, String(added)],
  })
  return rows[0]
}

interface Count {
  group: Group
  grain: number
  at: number
  runs: number
  runMs: bigint
  logBytes: bigint
  cpuMs: bigint
  memoryMbMs: bigint
  durations: number[]
}

const countedGrains = [
  { grain: grains.minute, ms: 60_000 },
  { grain: grains.hour, ms: 3_600_000 },
]
const nothing = () => ({ runs: 0, runMs: 0n, logBytes: 0n, cpuMs: 0n, memoryMbMs: 0n })

/** The rows that groups add to: each to its minute and its hour, in the order of their keys, in which all lock them. */
function countsOf(groups: Group[]): Count[] {
  const counts = new Map<string, Count>()
  for (const group of groups)
    for (const { grain, ms } of countedGrains) {
      const minute = group.at.getTime()
      const at = minute - (minute % ms)
      const key = [group.team, grain, at, group.processId, group.origin, group.status].join(' ')
      const count = counts.get(key) ?? { group, grain, at, ...nothing(), durations: [] }
      counts.set(key, count)
      count.runs += group.runs
      count.runMs += BigInt(group.runMs)
      count.logBytes += BigInt(group.logBytes)
      count.cpuMs += BigInt(group.cpuMs)
      count.memoryMbMs += BigInt(group.memoryMbMs)
      if (group.bin !== null) {
        while (count.durations.length < group.bin) count.durations.push(0)
        count.durations[group.bin - 1]! += group.runs
      }
    }
  return [...counts.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count)
}

function columnsOf(counts: Count[]): unknown[] {
  return [
    counts.map(({ group }) => group.team),
    counts.map(({ grain }) => grain),
    counts.map(({ at }) => new Date(at)),
    counts.map(({ group }) => group.processId),
    counts.map(({ group }) => group.origin),
    counts.map(({ group }) => group.status),
    counts.map(({ runs }) => runs),
    counts.map(({ runMs }) => String(runMs)),
    counts.map(({ logBytes }) => String(logBytes)),
    counts.map(({ cpuMs }) => String(cpuMs)),
    counts.map(({ memoryMbMs }) => String(memoryMbMs)),
    counts.map(({ durations }) => `{${durations.join()}}`),
  ]
}

/** A run that was killed, and what its runner says that it took. */
export interface KilledRun {
  id: string
  fence: bigint
  /** Of the runner that had it. */
  sessionId: string
  cpuMs?: number
  memoryMb?: number
}

/**
 * Adds what a killed run took to its counts. Its row stays without: whether its end is counted by now or will be, each
 * figure counts once.
 */
export async function addKilledUsage(pool: Queries, run: KilledRun): Promise<void> {
  const { id, fence, sessionId, cpuMs, memoryMb } = run
  await pool.query({
    name: 'run-counts-killed',
    text: `WITH killed AS (
             SELECT team, process_id, ${countedOrigin} AS origin, date_trunc('minute', updated_at, 'UTC') AS at,
                    greatest(extract(epoch FROM updated_at - started_at) * 1000, 0)::bigint AS ms
               FROM executions e
              WHERE id = $1 AND fence = $2 AND session_id = $3 AND status = ${Status.KILLED} AND started_at IS NOT NULL
                AND process_id <> '${installsProcessId}')
           INSERT INTO run_counts (team, grain, at, process_id, origin, status, runs, run_ms, log_bytes, cpu_ms, memory_mb_ms, durations)
           SELECT team, grain, date_trunc(unit, at, 'UTC'), process_id, coalesce(origin, 0), ${Status.KILLED}, 0, 0, 0, $4, $5::bigint * ms, '{}'
             FROM killed CROSS JOIN (VALUES (${grains.minute}, 'minute'), (${grains.hour}, 'hour')) AS g (grain, unit) ORDER BY grain
               ON CONFLICT (team, grain, at, process_id, origin, status) DO UPDATE
              SET cpu_ms = run_counts.cpu_ms + excluded.cpu_ms, memory_mb_ms = run_counts.memory_mb_ms + excluded.memory_mb_ms`,
    values: [id, fence, sessionId, cpuMs ?? 0, memoryMb ?? 0],
  })
}

const minutesKept = `$1 * interval '1 ms'`
const daysKept = (more: number) => `($2 + ${more}) * interval '1 day'`
/** In a statement, a batch of rows of each grain that are kept no longer. */
const forgotten = (
  [
    [grains.minute, minutesKept],
    [grains.minuteOfAll, minutesKept],
    [grains.hour, daysKept(1)],
    [grains.day, daysKept(2)],
    [grains.hourOfAll, daysKept(2)],
    [grains.hourOfProcess, daysKept(2)],
  ] as const
)
  .map(
    ([grain, kept]) =>
      `(SELECT ctid FROM run_counts WHERE grain = ${grain} AND at < now() - ${kept} ORDER BY at LIMIT $3)`,
  )
  .join(' UNION ALL ')

/** Forgets minutes after a week, hours and days with the executions: a batch at most of each. Gives how many rows it has removed. */
export async function forgetRunCounts(pool: Queries, retentionDays: number, batch: number): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'run-counts-forget',
    text: `DELETE FROM run_counts WHERE ctid = ANY (ARRAY (${forgotten}))`,
    values: [minutesKeptMs, retentionDays, batch],
  })
  return rowCount ?? 0
}
