import type { Client } from 'pg'
import { connectTo } from '../sides/written.ts'

export const keptDays = 30
const dayMs = 86_400_000

/** Of each hundred executions in turn: so many of these statuses, the others FINISHED. */
export const unusual = { ERROR: 2, KILLED: 1, REJECTED: 1 } as const
/** Each so-manieth execution has a comment. */
export const commentEvery = 20
/**
 * Of each ten in turn one is of this schedule, one of this version, one of a webhook, but for those of the first process,
 * whose webhook nobody calls; of each thousand one is a trial.
 */
export const scheduleId = '0197b3c0-0000-7000-8000-000000000001'
export const versionId = '0197b3c0-0000-7000-8000-000000000002'
export const trialEvery = 1000

/** What the parameters of one execution have alone, as a word of a search. `n`: of the day's, from 0 on. */
export const orderOf = (day: number, n: number): string => `${day}-${n}"`

/**
 * Writes ended executions of the processes of the team `demo` into a running system, so many of each of the last 30 days and
 * of the present one, each with its timeline and its log, in the partitions that it would have made, and counts them. Their
 * events count as handled.
 */
export async function keepExecutions(dataDir: string, perDay: number): Promise<void> {
  const client = await connectTo(dataDir, '-c search_path=execution -c synchronous_commit=off')
  try {
    const today = Math.floor(Date.now() / dayMs)
    for (let day = today - keptDays; day <= today; day += 1) {
      await client.query(partitions.map((table) => makePartition(table, day)).join(';'))
      await insert(client, day, 0, perDay)
    }
    await client.query(noteNames)
    await client.query(countRuns)
    await client.query('VACUUM (ANALYZE) executions, timeline_events, log_chunks, run_counts')
    await client.query('CHECKPOINT')
  } finally {
    await client.end()
  }
}

/** With further executions of the present day, from the nth on and not counted, as long as `work` takes. */
export async function withMoreOfToday<T>(
  dataDir: string,
  { first, count }: { first: number; count: number },
  work: () => Promise<T>,
): Promise<T> {
  const client = await connectTo(dataDir, '-c search_path=execution -c synchronous_commit=off')
  const vacuum = 'VACUUM (ANALYZE) executions, timeline_events, log_chunks'
  try {
    const today = Math.floor(Date.now() / dayMs)
    await insert(client, today, first, count)
    await client.query(vacuum)
    const done = await work()
    await client.query(removeMore, [first, lowestIdOf(today)])
    await client.query(vacuum)
    return done
  } finally {
    await client.end()
  }
}

/** Spread over a day, or over what is past of it. */
async function insert(client: Client, day: number, first: number, count: number): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM catalog.processes WHERE team = 'demo' ORDER BY id`,
  )
  const spanMs = Math.min(Date.now() - day * dayMs, dayMs)
  await client.query(insertDay, [day * dayMs, count, rows.map(({ id }) => id), spanMs, first])
}

const partitions = ['executions', 'timeline_events', 'log_chunks']

function lowestIdOf(day: number): string {
  const hex = (day * dayMs).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

function makePartition(table: string, day: number): string {
  const name = `${table}_${new Date(day * dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`
  // All are of one transaction here, and of very many in a system: the planner is to know of those.
  const asMany = table === 'timeline_events' ? `ALTER TABLE ${name} ALTER COLUMN xid SET (n_distinct = -0.3);` : ''
  return `DO $$ BEGIN IF to_regclass('${name}') IS NULL THEN
    CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
      WITH (fillfactor = ${table === 'executions' ? 55 : 100});
    ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${lowestIdOf(day)}') TO ('${lowestIdOf(day + 1)}');
  END IF; ${asMany} END $$`
}

/** Waits until the system has made the indexes of the words of the days that are over, and filled the sums of their counts. */
export async function untilKept(dataDir: string): Promise<void> {
  const client = await connectTo(dataDir, '-c search_path=execution')
  try {
    for (;;) {
      const { rows } = await client.query<{ left: number }>(`${withoutWords} UNION ALL ${withoutSums}`)
      if (rows.every(({ left }) => left === 0)) return
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  } finally {
    await client.end()
  }
}

const withoutWords = `
SELECT count(*)::integer AS left FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  LEFT JOIN (pg_index x JOIN pg_class k ON k.oid = x.indexrelid AND x.indisvalid) ON k.relname = c.relname || '_words'
 WHERE i.inhparent = 'executions'::regclass AND k.oid IS NULL AND pg_relation_size(c.oid) >= 4 * 1024 * 1024
   AND c.relname < 'executions_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')
   AND EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm')`

const withoutSums = `
SELECT 3 - count(*)::integer FROM (
  SELECT until + interval '3 days' FROM counted_days UNION ALL
  SELECT until + interval '3 hours' FROM summed_hours UNION ALL
  SELECT until + interval '3 hours' FROM summed_minutes) AS filled (until) WHERE until > now()`

const { ERROR, KILLED, REJECTED } = unusual

const insertDay = `
WITH made AS MATERIALIZED (
  SELECT n, at, at / ${dayMs} AS day, (lpad(to_hex(at), 12, '0') || '7' || substr(md5(at || ' ' || n), 1, 3) || '8' || substr(md5(n || ' ' || at), 1, 15))::uuid AS id,
         CASE WHEN n % 100 < ${ERROR} THEN 8 WHEN n % 100 < ${ERROR + KILLED} THEN 6
              WHEN n % 100 < ${ERROR + KILLED + REJECTED} THEN 7 ELSE 5 END AS status,
         to_timestamp(at / 1000.0) AS time, p.id AS process_id, p.name, p.slug,
         n % 10 = 5 AND p.id <> ($3::uuid[])[1] AS is_called
    FROM (SELECT n, $1::bigint + (n - $5::integer) * $4::bigint / $2::integer AS at FROM generate_series($5::integer, $5::integer + $2::integer - 1) AS n) AS times
    JOIN LATERAL (SELECT * FROM catalog.processes
                   WHERE id = ($3::uuid[])[1 + (times.n / 7) % cardinality($3::uuid[])]) AS p ON true
), rows AS (
  INSERT INTO executions (id, team, process_id, process_name, process_slug, status, sequence, fence, pool, replica_id, slot,
    depth, parameters, comment, return_value, explanation, timeout_ms, fresh_process, created_by, started_at, updated_at, language,
    origin, trial, schedule_id, version_id, delivery_method, delivery_bytes, request)
  SELECT id, 'demo', process_id, name, slug, status, 3, 1, 'default', id, 0, 0, format('{"order":"%s-%s","customer":"c-%s"}', day, n, n % 997),
         CASE WHEN n % ${commentEvery} = 0 THEN format('batch %s of the night', n) END,
         CASE WHEN status = 5 THEN '{"done":true}' END, CASE WHEN status = 8 THEN 'Error: no answer' END,
         300000, false, 'ci', time, time, 1,
         CASE WHEN n % 10 = 3 THEN 3 WHEN is_called THEN 2 ELSE 1 END, n % ${trialEvery} = 7,
         CASE WHEN n % 10 = 3 THEN '${scheduleId}'::uuid END, CASE WHEN n % 10 = 4 THEN '${versionId}'::uuid END,
         CASE WHEN is_called THEN 'POST' END, CASE WHEN is_called THEN 40 END,
         CASE WHEN is_called THEN '{"method":"POST","query":{},"headers":{}}' END
    FROM made
), events AS (
  INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id, xid, position)
  SELECT m.id, e.sequence, CASE e.sequence WHEN 1 THEN 1 WHEN 2 THEN 4 ELSE m.status END, m.time, 'demo', m.process_id, '3'::xid8, 0
    FROM made m CROSS JOIN generate_series(1, 3) AS e(sequence)
)
INSERT INTO log_chunks (execution_id, first, lines, body)
SELECT id, 0, 1, format('[[%s,2,"order %s is done"]]', at * 1000, n) FROM made`

const removeMore = `
WITH gone AS (
  DELETE FROM executions WHERE id >= $2 AND substring(parameters FROM '-([0-9]+)"')::integer >= $1 RETURNING id
), events AS (DELETE FROM timeline_events WHERE execution_id >= $2 AND execution_id IN (SELECT id FROM gone))
DELETE FROM log_chunks WHERE execution_id >= $2 AND execution_id IN (SELECT id FROM gone)`

const noteNames = `
INSERT INTO process_names (team, process_id, process_name)
SELECT team, id, name FROM catalog.processes WHERE team = 'demo' ON CONFLICT DO NOTHING`

/**
 * As the system does it: each start and each end to its hour, and of the last week to its minute, in the order of time. The
 * system fills sums of those.
 */
const countRuns = `
INSERT INTO run_counts (team, grain, at, process_id, origin, status, runs, run_ms, log_bytes, cpu_ms, memory_mb_ms, durations)
SELECT e.team, grain, date_trunc(unit, e.started_at, 'UTC'), process_id, origin, s.status, count(*), 0, 0, 0, 0,
       CASE s.status WHEN 4 THEN '{}'::integer[]
            ELSE array_fill(0, ARRAY[20 + (extract(hour FROM min(e.started_at))::integer + s.status) % 8]) || ARRAY[count(*) - count(*) / 4, 0, 0, count(*) / 4]::integer[] END
  FROM executions e CROSS JOIN (VALUES (1, 'minute', interval '7 days'), (2, 'hour', interval '60 days')) AS g (grain, unit, kept)
  CROSS JOIN LATERAL (VALUES (4), (e.status)) AS s (status)
 WHERE e.team = 'demo' AND NOT e.trial AND e.started_at > now() - kept
 GROUP BY 1, 2, 3, 4, 5, s.status ORDER BY 3, grain`
