import { Status } from '@automation/contract/execution/v1/execution'
import { Bucket, Grouping, StatisticsService } from '@automation/contract/execution/v1/statistics'
import { until, userContext } from '@automation/testing'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { newExecutionId } from '../src/execution-id.ts'
import { Connections } from '../src/store/connections.ts'
import { fillDays } from '../src/store/counted-days.ts'
import { forgetRunCounts } from '../src/store/run-counts.ts'
import { fillHours } from '../src/store/hourly-sums.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start()
  // The system fills what there is at its start, and does not fill again while these tests go on.
  await countHour('first', 1, 1)
  await until(async () => {
    await fillHourly()
    return (await system.rows(`SELECT FROM summed_hours WHERE until > now() - interval '2 hours'`)).length > 0
  })
})
afterAll(() => system.stop())

interface Query {
  by?: Grouping
  processId?: string
  bucket: Bucket
  from: number
  to: number
}

const figures = (team: string, { from, to, ...query }: Query) =>
  system.replicas[0]!.network.client(StatisticsService).getStatistics(
    { ...query, from: timestampFromMs(from), to: timestampFromMs(to) },
    userContext(team),
  )

const fill = () => fillDays(new Connections(system.sql), AbortSignal.timeout(60_000))
const fillHourly = () => fillHours(new Connections(system.sql), AbortSignal.timeout(60_000))

const dayMs = 86_400_000
const today = Math.floor(Date.now() / dayMs) * dayMs

/** Runs of a team in an hour so many days ago, as they are counted where nobody writes days: by the release before, too. */
async function countHour(team: string, ago: number, runs: number): Promise<void> {
  await system.rows(
    `INSERT INTO run_counts (team, grain, at, process_id, origin, status, runs, run_ms, log_bytes, cpu_ms, memory_mb_ms, durations)
     SELECT $1, 2, to_timestamp($2::bigint / 1000 + 3600 * hour), $3, 1, status, $4::integer, 10, 0, 0, 0, CASE status WHEN ${Status.FINISHED} THEN ARRAY[0, $4::integer] ELSE '{}' END
       FROM generate_series(0, 23, 23) AS hour, unnest(ARRAY[${Status.RUNNING}, ${Status.FINISHED}]) AS status
         ON CONFLICT (team, grain, at, process_id, origin, status) DO UPDATE SET runs = run_counts.runs + excluded.runs`,
    [team, today - ago * dayMs, '01900000-0000-7000-8000-000000000000', runs],
  )
  // Hours are filled once all in them is counted.
  await system.rows('DELETE FROM summed_hours')
}

/**
 * Runs that have started by origin, or by what else they are told apart, from a time in ms until today is over; buckets
 * without any left out.
 */
async function startedSince(
  team: string,
  from: number,
  bucket: Bucket,
  by = Grouping.ORIGIN,
): Promise<Record<string, number[]>> {
  const { series } = await figures(team, { by, bucket, from, to: today + dayMs })
  const started = (points: (typeof series)[0]['points']) =>
    points.map((point) => Number(point.started)).filter((runs) => runs > 0)
  return Object.fromEntries(series.map(({ key, points }) => [key, started(points)]))
}

const byHours = (team: string, ago: number, by = Grouping.ORIGIN) =>
  startedSince(team, today - ago * dayMs, Bucket.HOUR, by)

/** Runs by days, from one that is so many days ago until today: of statistics, and of usage where it is above 0. */
async function byDays(team: string, ago: number): Promise<{ started: number[]; used: number[] }> {
  const span = { from: today - ago * dayMs, to: today + dayMs }
  const { series } = await figures(team, { ...span, bucket: Bucket.DAY })
  const statistics = system.replicas[0]!.network.client(StatisticsService)
  const times = { from: timestampFromMs(span.from), to: timestampFromMs(span.to) }
  const { items } = await statistics.getUsage({ ...times, by: Grouping.DAY }, userContext(team))
  return {
    started: series.flatMap(({ points }) => points.map(({ started }) => Number(started))),
    used: items.map(({ runs }) => Number(runs)),
  }
}

const filledDays = async (team: string) =>
  (
    await system.rows<{ ago: number }>(
      `SELECT DISTINCT ($2::bigint / 1000 - extract(epoch FROM at)::bigint)::integer / 86400 AS ago FROM run_counts
        WHERE team = $1 AND grain = 3 ORDER BY 1 DESC`,
      [team, today],
    )
  ).map(({ ago }) => ago)

test('figures of days are right while days are not filled, once they are, and where the release before counts meanwhile', async () => {
  const team = 'days'
  for (const [ago, runs] of [
    [9, 1],
    [4, 2],
    [3, 3],
    [1, 4],
    [0, 5],
  ] as const)
    await countHour(team, ago, runs)
  const all = { started: [2, 0, 0, 0, 0, 4, 6, 0, 8, 10], used: [2, 4, 6, 8, 10] }
  expect(await byDays(team, 9)).toEqual(all)
  expect(await filledDays(team)).toEqual([])
  await Promise.all([fill(), fill()])
  await fill()
  expect(await filledDays(team)).toEqual([9, 4, 3])
  expect(await byDays(team, 9)).toEqual(all)
  const before = await system.rows(`SELECT xmin::text, * FROM run_counts WHERE grain = 3 ORDER BY 1, 2, 3, 4`)
  await fill()
  expect(await system.rows(`SELECT xmin::text, * FROM run_counts WHERE grain = 3 ORDER BY 1, 2, 3, 4`)).toEqual(before)
  // Days that are not filled have at once what is counted, those that were filled last have it when they are again.
  for (const ago of [0, 1, 3]) await countHour(team, ago, 1)
  const more = { started: [2, 0, 0, 0, 0, 4, 8, 0, 10, 12], used: [2, 4, 8, 10, 12] }
  await fill()
  expect(await byDays(team, 9)).toEqual(more)
  // Where a clock was ahead for a time, days are not read before they can be filled, and are filled from there on.
  await system.rows('UPDATE counted_days SET until = $1', [new Date(today + 100 * dayMs)])
  expect(await byDays(team, 9)).toEqual(more)
  await fill()
  expect(await system.rows('SELECT until FROM counted_days')).toEqual([{ until: new Date(today - dayMs) }])
})

test('figures of hours are right by origin and by process, before they are filled and once they are', async () => {
  const team = 'hours'
  const other = '01900000-0000-7000-8000-000000000001'
  await system.rows('DELETE FROM counted_days')
  for (const [ago, runs] of [
    [8, 1],
    [5, 2],
    [1, 3],
  ] as const)
    await countHour(team, ago, runs)
  // Another process, of two origins, and with trials.
  await system.rows(
    `INSERT INTO run_counts SELECT team, grain, at, $2::uuid, other, status, times * runs, run_ms, log_bytes, cpu_ms, memory_mb_ms, durations
       FROM run_counts, (VALUES (3, 10), (1, 100), (-2, 1000)) AS o (other, times) WHERE team = $1`,
    [team, other],
  )
  const origins = { 1: [101, 101, 202, 202, 303, 303], 3: [10, 10, 20, 20, 30, 30] }
  const processes = {
    '01900000-0000-7000-8000-000000000000': [1, 1, 2, 2, 3, 3],
    [other]: [110, 110, 220, 220, 330, 330],
  }
  const expectAll = async () => {
    expect(await byHours(team, 9)).toEqual(origins)
    expect(await byHours(team, 9, Grouping.PROCESS)).toEqual(processes)
  }
  const durations = async () => {
    const each = [{ by: Grouping.PROCESS }, { by: Grouping.STATUS, processId: other }, { processId: other }]
    return Promise.all(each.map(async (query) => (await figures(team, { ...span, ...query })).series))
  }
  const span = { bucket: Bucket.HOUR, from: today - 9 * dayMs, to: today + dayMs }
  await expectAll()
  const before = await durations()
  await Promise.all([fillHourly(), fillHourly()])
  await fillHourly()
  await fill()
  await expectAll()
  expect(await durations()).toEqual(before)
  // Where a clock was ahead for a time, and where only some hours are filled.
  for (const until of [today + 100 * dayMs, today - 5 * dayMs]) {
    await system.rows('UPDATE summed_hours SET until = $1', [new Date(until)])
    await expectAll()
  }
  await fillHourly()
  const days = await byDays(team, 9)
  const daysOfProcesses = await startedSince(team, span.from, Bucket.DAY, Grouping.PROCESS)
  expect(daysOfProcesses).toEqual({
    '01900000-0000-7000-8000-000000000000': [2, 4, 6],
    [other]: [220, 440, 660],
  })
  // They alone are read where they are filled; usage has the trials, too, which no sum of a process has.
  await system.rows(`DELETE FROM run_counts WHERE team = $1 AND grain = 2 AND at < now() - interval '5 hours'`, [team])
  await expectAll()
  expect((await byDays(team, 9)).started).toEqual(days.started)
  expect(await startedSince(team, span.from, Bucket.DAY, Grouping.PROCESS)).toEqual(daysOfProcesses)
  expect(days.used).toEqual([2222, 4444, 6666])
})

test('a day is not filled before its events are counted, however long ago it was', async () => {
  const client = await system.sql.connect()
  onTestFinished(() => client.release(true))
  await client.query('BEGIN')
  await client.query('SELECT pg_current_xact_id()')
  await system.rows(
    `INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id)
     VALUES ($1, 2, ${Status.RUNNING}, $2, 'late days', $1)`,
    [newExecutionId(), new Date(today - 7 * dayMs + 1000)],
  )
  await countHour('long ago', 9, 1)
  await system.rows('DELETE FROM counted_days')
  await fill()
  expect(await system.rows('SELECT until FROM counted_days')).toEqual([{ until: new Date(today - 7 * dayMs) }])
  await client.query('ROLLBACK')
  await until(() =>
    byDays('late days', 7).then(
      ({ used }) => used[0] === 1,
      () => false,
    ),
  )
  await fill()
  expect(await filledDays('late days')).toEqual([7])
  expect((await byDays('late days', 7)).started[0]).toBe(1)
})

test('while the hours of the oldest day go it stays what it was, also where hours of all processes are filled for the first time', async () => {
  const team = 'oldest'
  const keptDays = 7
  for (const [ago, runs] of [
    [9, 1],
    [8, 2],
    [7, 3],
    [3, 4],
    [0, 5],
  ] as const)
    await countHour(team, ago, runs)
  await system.rows('DELETE FROM counted_days')
  await fill()
  expect((await byDays(team, 9)).started).toEqual([2, 4, 6, 0, 0, 0, 8, 0, 0, 10])
  await forgetRunCounts(new Connections(system.sql), keptDays, 10_000)
  const left = { started: [0, 4, 6, 0, 0, 0, 8, 0, 0, 10], used: [4, 6, 8, 10] }
  expect(await byDays(team, 9)).toEqual(left)
  await fill()
  expect(await byDays(team, 9)).toEqual(left)
  // As it is where the release before has filled days.
  const hours = await byHours(team, 8)
  await fillHourly()
  expect(await byDays(team, 9)).toEqual(left)
  expect(await byHours(team, 8)).toEqual(hours)
  // As it is meanwhile, when the oldest day alone is filled anew.
  for (const ago of [8, 7]) {
    const until = new Date(today - (ago - 1) * dayMs)
    await system.rows('UPDATE counted_days SET until = $1', [until])
    await system.rows('UPDATE summed_hours SET until = $1', [until])
    expect(await byDays(team, 9)).toEqual(left)
    expect(await byHours(team, 8)).toEqual(hours)
  }
  await fill()
  expect(await byDays(team, 9)).toEqual(left)
})

const hourMs = 3_600_000
const minuteMs = 60_000

/** Runs of two processes and origins in the minute that begins at this time, in ms. */
async function countMinute(team: string, at: number, runs: number): Promise<void> {
  await system.rows(
    `INSERT INTO run_counts (team, grain, at, process_id, origin, status, runs, run_ms, log_bytes, cpu_ms, memory_mb_ms, durations)
     SELECT $1, 1, $2, p.id, p.origin, status, p.times * $3::integer, 10, 0, 0, 0, CASE status WHEN ${Status.FINISHED} THEN ARRAY[0, p.times * $3::integer] ELSE '{}' END
       FROM unnest(ARRAY[${Status.RUNNING}, ${Status.FINISHED}]) AS status,
            (VALUES ('01900000-0000-7000-8000-000000000000'::uuid, 1, 1), ('01900000-0000-7000-8000-000000000001', 1, 2), ('01900000-0000-7000-8000-000000000001', 3, 10)) AS p (id, origin, times)
         ON CONFLICT (team, grain, at, process_id, origin, status) DO UPDATE SET runs = run_counts.runs + excluded.runs`,
    [team, new Date(at), runs],
  )
}

test('figures of minutes are those of all processes, before they are filled, once they are, and with what was counted late', async () => {
  const team = 'minutes'
  const hour = Math.floor(Date.now() / hourMs) * hourMs
  const started = () => startedSince(team, hour - 30 * hourMs, Bucket.MINUTE)
  const expected = (...runs: number[]) => ({ 1: runs.map((each) => 3 * each), 3: runs.map((each) => 10 * each) })
  for (const [ago, runs] of [
    [26 * hourMs, 1],
    [3 * hourMs, 2],
    [3 * hourMs - minuteMs, 3],
    [0, 4],
  ] as const)
    await countMinute(team, hour - ago, runs)
  expect(await started()).toEqual(expected(1, 2, 3, 4))
  await Promise.all([fillHourly(), fillHourly()])
  await fillHourly()
  expect(await started()).toEqual(expected(1, 2, 3, 4))
  // What no more is filled has at once what is counted, and what is filled once it is again, a day later.
  await countMinute(team, hour, 1)
  await countMinute(team, hour - 26 * hourMs, 1)
  expect(await started()).toEqual(expected(1, 2, 3, 5))
  await system.rows('UPDATE summed_minutes SET until = $1', [new Date(hour - 2 * hourMs)])
  expect(await started()).toEqual(expected(1, 2, 3, 5))
  await fillHourly()
  expect(await started()).toEqual(expected(2, 2, 3, 5))
  // Where a clock was ahead for a time.
  await system.rows('UPDATE summed_minutes SET until = $1', [new Date(hour + 100 * dayMs)])
  await fillHourly()
  expect(await system.rows('SELECT FROM summed_minutes WHERE until > now()')).toEqual([])
  // They alone are read where they are filled.
  await system.rows(`DELETE FROM run_counts WHERE team = $1 AND grain = 1 AND at < $2`, [team, new Date(hour - hourMs)])
  expect(await started()).toEqual(expected(2, 2, 3, 5))
  await forgetRunCounts(new Connections(system.sql), 30, 10_000)
  expect(await started()).toEqual(expected(2, 2, 3, 5))
})
