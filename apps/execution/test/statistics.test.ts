import { Status } from '@automation/contract/execution/v1/execution'
import { Bucket, Grouping, StatisticsService } from '@automation/contract/execution/v1/statistics'
import { isDeepStrictEqual } from 'node:util'
import { until, userContext } from '@automation/testing'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { newExecutionId } from '../src/execution-id.ts'
import { Connections } from '../src/store/connections.ts'
import { fillDays } from '../src/store/counted-days.ts'
import { value, type End, type ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System
/** From the second test on. */
let runner: ScriptedRunner

const broken: End = { case: 'failed', value: { explanation: 'Error: no' } }

beforeAll(async () => {
  system = await System.start({ teamMaxQueued: 1 }, 2)
  system.catalog.put('other')
})
afterAll(() => system.stop())

interface Query {
  by?: Grouping
  bucket?: Bucket
  from?: number
  to?: number
}

const figures = async (team: string, { from, to, ...query }: Query = {}, replica = 0) =>
  system.replicas[replica]!.network.client(StatisticsService).getStatistics(
    {
      ...query,
      ...(from !== undefined && { from: timestampFromMs(from) }),
      ...(to !== undefined && { to: timestampFromMs(to) }),
    },
    userContext(team),
  )

/** What all points of each series have together. */
async function sums(team: string, query: Query = {}, replica = 0): Promise<Record<string, number[]>> {
  const { series } = await figures(team, query, replica)
  const sumOf = (points: (typeof series)[0]['points']) =>
    (['started', 'finished', 'error', 'killed', 'rejected'] as const).map((name) =>
      points.reduce((sum, point) => sum + Number(point[name]), 0),
    )
  return Object.fromEntries(series.map(({ key, points }) => [key, sumOf(points)]))
}

/** Other test files have transactions open on the same server, behind which nothing is counted. */
const become = (team: string, expected: Record<string, number[]>, query: Query = {}, replica = 0) =>
  until(async () => isDeepStrictEqual(await sums(team, query, replica), expected), { what: JSON.stringify(expected) })

test('runs that never ran have no duration', async () => {
  // No runner is there yet.
  const id = await system.start('waiting')
  await system.executions.killExecution({ id }, userContext('waiting'))
  await system.ended(id, 'waiting')
  await become('waiting', { all: [0, 0, 0, 1, 0] })
  const points = (await figures('waiting')).series[0]!.points
  expect(points.map(({ p50Ms }) => p50Ms)).toEqual(Array.from({ length: 24 }, () => undefined))
})

test('each run counts once where it starts and once where it ends, at any replica, and all sums agree', async () => {
  runner = await system.runner({ slots: 8, runs: () => undefined })
  for (const outcome of ['finish', 'finish', 'fail', 'kill']) {
    const id = await system.start('demo', outcome === 'finish' ? { identifier: 'other' } : {})
    await runner.run(id)
    if (outcome === 'finish') runner.finish(id, value(1))
    if (outcome === 'fail') runner.finish(id, broken)
    if (outcome === 'kill') await system.executions.killExecution({ id }, userContext('demo'))
    await system.ended(id)
  }
  const all = [4, 2, 1, 1, 0]
  for (const replica of [0, 1, 0]) await become('demo', { all }, {}, replica)
  // Hours that are parts of days, and whole days that are not over.
  const now = Date.now()
  for (const [back, ahead] of [
    [50, 50],
    [1, 1],
    [24, 24],
  ] as const) {
    const span = { from: timestampFromMs(now - back * 3_600_000), to: timestampFromMs(now + ahead * 3_600_000) }
    const usage = system.replicas[0]!.network.client(StatisticsService).getUsage(span, userContext('demo'))
    expect((await usage).items.reduce((runs, item) => runs + Number(item.runs), 0)).toBe(4)
  }
  for (const bucket of [Bucket.MINUTE, Bucket.DAY]) expect(await sums('demo', { bucket })).toEqual({ all })
  const byProcess = Object.values(await sums('demo', { by: Grouping.PROCESS }))
  expect(byProcess).toContainEqual([2, 0, 1, 1, 0])
  expect(byProcess).toContainEqual([2, 2, 0, 0, 0])
  expect(await sums('demo', { by: Grouping.STATUS })).toEqual({
    RUNNING: [4, 0, 0, 0, 0],
    FINISHED: [0, 2, 0, 0, 0],
    ERROR: [0, 0, 1, 0, 0],
    KILLED: [0, 0, 0, 1, 0],
  })
  expect(await sums('demo', { by: Grouping.ORIGIN })).toEqual({ 1: all })
  expect(await sums('another')).toEqual({})
  const [series] = (await figures('demo')).series
  const { p50Ms, p95Ms } = series!.points.findLast(({ started }) => started > 0n)!
  expect(p95Ms).toBeGreaterThanOrEqual(Number(p50Ms))
  expect(series!.points).toHaveLength(24)
})

test('trials are part of what was used, but of no figures', async () => {
  const team = 'tried'
  await system.finished(runner, team, { identifier: 'other' })
  await system.finished(runner, team, { identifier: 'other', draftId: system.catalog.keepDraft('other') })
  const statistics = system.replicas[0]!.network.client(StatisticsService)
  const used = async () => (await statistics.getUsage({ by: Grouping.PROCESS }, userContext(team))).items
  await until(async () =>
    isDeepStrictEqual(
      (await used()).map(({ runs }) => runs),
      [2n],
    ),
  )
  expect(await sums(team, { by: Grouping.STATUS })).toEqual({ RUNNING: [1, 0, 0, 0, 0], FINISHED: [0, 1, 0, 0, 0] })
  expect(await sums(team, { by: Grouping.ORIGIN })).toEqual({ 1: [1, 1, 0, 0, 0] })
})

test('what runners say that runs took counts once, also of a killed run, and for nobody else', async () => {
  const team = 'measured'
  const statistics = system.replicas[0]!.network.client(StatisticsService)
  const begin = async () => {
    const id = await system.start(team)
    return { id, run: await runner.run(id) }
  }
  for (const usage of [{ cpuMs: 1000n }, { cpuMs: 2n ** 50n }, {}, undefined]) {
    const { id } = await begin()
    runner.finish(id, usage === undefined ? broken : value(1), undefined, usage)
    await system.ended(id, team)
  }
  const { id, run } = await begin()
  await system.executions.killExecution({ id }, userContext(team))
  await system.ended(id, team)
  const told = { executionId: id, fence: run.fence, usage: { cpuMs: 500n, memoryMb: 10n } }
  runner.send(id, { case: 'killedUsage', value: { ...told, fence: run.fence + 1n } })
  for (let times = 0; times < 3; times++) runner.send(id, { case: 'killedUsage', value: told })
  const other = await begin()
  runner.send(other.id, { case: 'killedUsage', value: { ...told, executionId: other.id, fence: other.run.fence } })
  runner.finish(other.id, value(1), undefined, { cpuMs: 1n, memoryMb: 100n })
  await system.ended(other.id, team)
  const used = async () => (await statistics.getUsage({ by: Grouping.PROCESS }, userContext(team))).items
  const cpuMs = 1000n + (2n ** 31n - 1n) + 500n + 1n
  const all = async () => {
    const [item] = await used()
    return item?.runs === 6n && item.cpuMs === cpuMs && item.memoryMbMs > 0n
  }
  await until(all, { what: 'all of it counts' })
})

test('a runner that tells of many killed runs keeps nobody from what another one tells', async () => {
  const team = 'beside'
  const id = await system.start(team)
  const { fence } = await runner.run(id)
  await system.executions.killExecution({ id }, userContext(team))
  await system.ended(id, team)
  const telling = await system.runner({ slots: 0 })
  for (let count = 0; count < 20_000; count += 1)
    telling.say({ case: 'killedUsage', value: { executionId: newExecutionId(), fence: 1n, usage: { cpuMs: 1n } } })
  await telling.goodbye()
  runner.send(id, { case: 'killedUsage', value: { executionId: id, fence, usage: { cpuMs: 7n } } })
  const used = () =>
    system.replicas[0]!.network.client(StatisticsService).getUsage({ by: Grouping.PROCESS }, userContext(team))
  // All of the others takes longer.
  const isCounted = async () => (await used()).items[0]?.cpuMs === 7n
  await until(isCounted, { timeoutMs: 4000, what: 'what it took to count' })
})

test('summaries of several processes have the last run and the figures of the last hours, without trials', async () => {
  const team = 'summed'
  const statistics = system.replicas[0]!.network.client(StatisticsService)
  const summaries = async (processIds: string[], of = team) =>
    (await statistics.summarizeProcesses({ processIds }, userContext(of))).summaries
  const processOf = async (id: string) => (await system.get(id, team)).processId
  const finished = await system.finished(runner, team)
  await system.finished(runner, team, { identifier: 'other' })
  const failed = await system.start(team, { identifier: 'other' })
  await runner.run(failed)
  runner.finish(failed, broken)
  await system.ended(failed, team)
  for (const slug of ['other', 'tried']) {
    if (slug === 'tried') system.catalog.put(slug)
    await system.finished(runner, team, { identifier: slug, draftId: system.catalog.keepDraft(slug) })
  }
  const [hello, other] = [await processOf(finished), await processOf(failed)]
  const ids = [hello, other.toUpperCase(), other, system.catalog.put('tried'), newExecutionId(), 'x']
  const expected = [
    [1n, 0n],
    [2n, 1n],
  ]
  const counted = async () => {
    const found = await summaries(ids)
    const runs = found.map((one) => [one.runs, one.failed])
    return isDeepStrictEqual(runs, expected) && found.every(({ p95Ms }) => p95Ms !== undefined) ? found : undefined
  }
  const [first, second] = await until(counted)
  const { FINISHED, ERROR } = Status
  expect(first).toMatchObject({ processId: hello, lastExecution: { id: finished, status: FINISHED } })
  expect(second).toMatchObject({ processId: other, lastExecution: { id: failed, status: ERROR } })
  expect(second!.lastExecution!.createdAt).toEqual((await system.get(failed, team)).createdAt)
  expect(await summaries(ids, 'stranger')).toEqual([])
  await expect(summaries(Array<string>(1001).fill(hello))).rejects.toMatchObject({ code: 'invalid_input' })
})

test('what was committed late counts, and what a replica that ends has counted counts no more', async () => {
  const team = 'late'
  const client = await system.sql.connect()
  const write = (id: string, status: Status, sequence: number, ago = '0 s') =>
    `INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id)
     VALUES ('${id}', ${sequence}, ${status}, now() - interval '${ago}', '${team}', '${newExecutionId()}')`
  await client.query('BEGIN')
  await client.query(write(newExecutionId(), Status.RUNNING, 2))
  await system.rows(write(newExecutionId(), Status.RUNNING, 2))
  expect(await sums(team)).toEqual({})
  await client.query('COMMIT')
  client.release()
  await become(team, { all: [2, 0, 0, 0, 0] })
  const [gone] = system.replicas.splice(1, 1)
  await gone!.part.stop(0)
  await system.addReplica()
  await become(team, { all: [2, 0, 0, 0, 0] }, {}, 1)
})

test('figures that would lack what happened long ago are refused', async () => {
  const client = await system.sql.connect()
  await client.query('BEGIN')
  await client.query('SELECT pg_current_xact_id()')
  await system.rows(
    `INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id)
     VALUES ($1, 2, ${Status.RUNNING}, now() - interval '1 minute', 'behind', $1)`,
    [newExecutionId()],
  )
  const refused = sums('behind')
  await refused.catch(() => undefined)
  await client.query('ROLLBACK')
  client.release()
  await expect(refused).rejects.toMatchObject({ code: 'unavailable', retryAfterS: 5 })
  await until(() =>
    sums('behind').then(
      (all) => all['all']?.[0] === 1,
      () => false,
    ),
  )
})

test('where nothing happens nothing is written', async () => {
  const isCounted = `SELECT FROM bus_cursors WHERE consumer = 'statistics'
    AND NOT EXISTS (SELECT FROM timeline_events WHERE xid >= window_from)`
  await until(async () => (await system.rows(isCounted)).length > 0)
  const row = async () =>
    (await system.rows(`SELECT xmin::text, ctid::text, window_from FROM bus_cursors WHERE consumer = 'statistics'`))[0]
  const before = await row()
  for (const replica of [0, 1]) await sums('idle', {}, replica)
  expect(await row()).toEqual(before)
})

test('what would be too large is refused, with what to do', async () => {
  const now = Date.now()
  const years = now - 2 * 366 * 24 * 3_600_000
  await expect(figures('demo', { from: years })).rejects.toMatchObject({ code: 'too_many_points' })
  const half = now - 220 * 24 * 3_600_000
  expect(Object.keys(await sums('demo', { from: half }))).toEqual(['all'])
  await expect(figures('demo', { from: half, by: Grouping.PROCESS })).rejects.toMatchObject({ code: 'too_many_points' })
  await expect(figures('demo', { from: now, to: now - 3_600_000 })).rejects.toMatchObject({ code: 'invalid_input' })
  const month = now - 30 * 24 * 3_600_000
  await expect(figures('demo', { from: month, to: month + 60_000, bucket: Bucket.MINUTE })).rejects.toMatchObject({
    code: 'invalid_input',
  })
})

test('usage is exact for runs, by process and by day', async () => {
  const used = async (by: Grouping) =>
    (await system.replicas[0]!.network.client(StatisticsService).getUsage({ by }, userContext('demo'))).items
  expect((await used(Grouping.PROCESS)).map(({ runs }) => runs)).toEqual([2n, 2n])
  const [today, ...others] = await used(Grouping.DAY)
  expect(others).toEqual([])
  expect(today).toMatchObject({ key: new Date().toISOString().slice(0, 10), runs: 4n })
  expect(today!.runMs).toBeGreaterThan(0n)
})

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
}

/** Runs that have started by hours and origin, from the day that is so many days ago until today; those of no hour left out. */
async function byHours(team: string, ago: number): Promise<Record<string, number[]>> {
  const { series } = await figures(team, {
    by: Grouping.ORIGIN,
    bucket: Bucket.HOUR,
    from: today - ago * dayMs,
    to: today + dayMs,
  })
  const started = (points: (typeof series)[0]['points']) =>
    points.map((point) => Number(point.started)).filter((runs) => runs > 0)
  return Object.fromEntries(series.map(({ key, points }) => [key, started(points)]))
}

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
  const sql = new Connections(system.sql)
  const fill = () => fillDays(sql, AbortSignal.timeout(60_000))
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

test('figures of hours are those of all processes, before they are filled and once they are', async () => {
  const team = 'hours'
  const fill = () => fillDays(new Connections(system.sql), AbortSignal.timeout(60_000))
  await system.rows('DELETE FROM counted_days')
  for (const [ago, runs] of [
    [8, 1],
    [5, 2],
    [0, 3],
  ] as const)
    await countHour(team, ago, runs)
  await system.rows(
    `INSERT INTO run_counts SELECT team, grain, at, $2::uuid, 3, status, 10 * runs, run_ms, log_bytes, cpu_ms, memory_mb_ms, durations
       FROM run_counts WHERE team = $1`,
    [team, '01900000-0000-7000-8000-000000000001'],
  )
  const all = { 1: [1, 1, 2, 2, 3, 3], 3: [10, 10, 20, 20, 30, 30] }
  expect(await byHours(team, 9)).toEqual(all)
  // What the release before has filled has no such hours, and gets them.
  await fill()
  await system.rows('DELETE FROM run_counts WHERE grain = 4')
  await system.rows('UPDATE counted_days SET hours_until = NULL')
  expect(await byHours(team, 9)).toEqual(all)
  await fill()
  expect(await byHours(team, 9)).toEqual(all)
  const days = await byDays(team, 9)
  // They alone are read where they are filled.
  await system.rows(`DELETE FROM run_counts WHERE team = $1 AND grain = 2 AND at < to_timestamp($2)`, [
    team,
    today / 1000,
  ])
  expect(await byHours(team, 9)).toEqual(all)
  expect(await byDays(team, 9)).toEqual(days)
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
  const fill = () => fillDays(new Connections(system.sql), AbortSignal.timeout(60_000))
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
