import { Status } from '@automation/contract/execution/v1/execution'
import { Bucket, Grouping, StatisticsService } from '@automation/contract/execution/v1/statistics'
import { isDeepStrictEqual } from 'node:util'
import { until, userContext } from '@automation/testing'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newExecutionId } from '../src/execution-id.ts'
import { value, type End, type ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System
/** From the second test on. */
let runner: ScriptedRunner

const broken: End = { case: 'failed', value: { explanation: 'Error: no' } }

beforeAll(async () => {
  system = await System.start({ teamMaxQueued: 1, pools: ['default', 'idle'] }, 2)
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
  // One that never starts is none of fewer runs.
  const killed = await system.start(team, { identifier: 'other', settings: { agentPool: 'idle' } })
  await system.executions.killExecution({ id: killed }, userContext(team))
  for (const slug of ['other', 'tried']) {
    if (slug === 'tried') system.catalog.put(slug)
    await system.finished(runner, team, { identifier: slug, draftId: system.catalog.keepDraft(slug) })
  }
  const [hello, other] = [await processOf(finished), await processOf(failed)]
  const ids = [hello, other.toUpperCase(), other, system.catalog.put('tried'), newExecutionId(), 'x']
  const expected = [
    [1n, 0n],
    [3n, 2n],
  ]
  const counted = async () => {
    const found = await summaries(ids)
    const runs = found.map((one) => [one.runs, one.failed])
    return isDeepStrictEqual(runs, expected) && found.every(({ p95Ms }) => p95Ms !== undefined) ? found : undefined
  }
  const [first, second] = await until(counted)
  const { FINISHED, KILLED } = Status
  expect(first).toMatchObject({ processId: hello, lastExecution: { id: finished, status: FINISHED } })
  expect(second).toMatchObject({ processId: other, lastExecution: { id: killed, status: KILLED } })
  expect(second!.lastExecution!.createdAt).toEqual((await system.get(killed, team)).createdAt)
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
  expect(await used(Grouping.UNSPECIFIED)).toEqual(await used(Grouping.PROCESS))
  const [today, ...others] = await used(Grouping.DAY)
  expect(others).toEqual([])
  expect(today).toMatchObject({ key: new Date().toISOString().slice(0, 10), runs: 4n })
  expect(today!.runMs).toBeGreaterThan(0n)
})
