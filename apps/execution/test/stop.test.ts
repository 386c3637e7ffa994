import { Status } from '@automation/contract/execution/v1/execution'
import { Failure, unavailable } from '@automation/errors'
import { until, userContext } from '@automation/testing'
import { expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

const tookTooLong = new Failure('deadline_exceeded', 'deadline_exceeded', 'The operation took too long')

/** A system whose one slot has a run, with another one queued, and callers that wait for both. */
async function oneRunsOneWaits() {
  const system = await System.start()
  const runner = await system.runner({ slots: 1, runs: () => undefined })
  const running = system.run()
  const run = await runner.run()
  const queued = system.run()
  await until(async () => (await system.rows('SELECT 1 FROM executions WHERE status = 2')).length === 1)
  return { system, runner, running, run, queued }
}

test('a stop takes nothing new, lets runs finish within the grace time, answers their callers and ends', async () => {
  const { system, runner, running, run, queued } = await oneRunsOneWaits()
  const stopped = system.replicas[0]!.part.stop(60_000)
  await expect(system.start()).rejects.toMatchObject({ kind: 'unavailable' })
  runner.finish(run.executionId, value('in time'))
  expect(await running).toMatchObject({ status: Status.FINISHED })
  expect(await queued).toMatchObject({ status: Status.CREATED, replicaStops: true })
  const began = performance.now()
  await stopped
  expect(performance.now() - began).toBeLessThan(30_000)
  expect(runner.started).toHaveLength(1)
  expect(await brokenInvariants(system)).toEqual([])
  await system.stop()
})

test('what comes once it has stopped is told so, and nothing is asked of its closed database', async () => {
  const system = await System.start()
  await system.replicas[0]!.part.stop(0)
  await expect(system.list()).rejects.toMatchObject({ kind: 'unavailable', code: 'stopping' })
  await system.stop()
})

test('while its callers are waited for nothing is begun, and who waits for what is queued is told once nothing runs', async () => {
  const { system, runner, running, run, queued } = await oneRunsOneWaits()
  system.replicas[0]!.part.quiesce!()
  runner.finish(run.executionId, value('in time'))
  expect(await running).toMatchObject({ status: Status.FINISHED })
  const { executionId, ...left } = await queued
  expect(left).toMatchObject({ replicaStops: true })
  const awaited = system.executions.awaitExecution({ executionId, waitMs: 60_000 }, userContext('demo'))
  await expect(awaited).rejects.toMatchObject({ kind: 'unavailable', code: 'stopping' })
  expect(runner.started).toHaveLength(1)
  await system.stop()
})

test('what has not finished within the grace time ends as ERROR "service stopped", its caller is answered', async () => {
  const system = await System.start({ exclusive: true })
  const runner = await system.runner({ slots: 1, runs: () => undefined })
  const outcome = system.run()
  await runner.run()
  await system.replicas[0]!.part.stop(100)
  expect(await outcome).toMatchObject({ status: Status.ERROR, explanation: 'service stopped' })
  expect(runner.killed).toHaveLength(1)
  expect(await brokenInvariants(system)).toEqual([])
  await system.stop()
})

test('with nothing running a stop takes no time, and a second one is harmless', async () => {
  const system = await System.start()
  await system.runner()
  await system.run()
  const began = performance.now()
  await Promise.all([system.replicas[0]!.part.stop(60_000), system.replicas[0]!.part.stop(0)])
  expect(performance.now() - began).toBeLessThan(30_000)
  await system.stop()
})

test('queued runs of a replica that has stopped are taken up by the next one', async () => {
  const system = await System.start()
  const ids = await Promise.all([1, 2, 3].map(() => system.start()))
  await system.replicas.shift()!.part.stop(0)
  await system.addReplica()
  const runner = await system.runner({ runs: () => value(1) })
  for (const id of ids) expect((await system.ended(id)).status).toBe(Status.FINISHED)
  await runner.goodbye()
  await system.executions.listExecutions({}, userContext('demo'))
  await system.stop()
})

test('a runner that takes its slots back gets none of the queued runs; they wait for the next one', async () => {
  const system = await System.start()
  const first = await system.runner({ slots: 4, runs: () => undefined })
  const [one] = await Promise.all([1, 2, 3].map(() => system.start()))
  await first.run(one)
  await until(() => first.running === 3)
  first.say({ case: 'draining', value: {} })
  await until(() => first.returned === 1)
  const queued = await system.start()
  first.grant(1)
  await until(() => first.returned === 2)
  expect((await system.get(queued)).status).toBe(Status.QUEUED)
  for (const { executionId } of [...first.started]) first.finish(executionId)
  const next = await system.runner({ slots: 4 })
  expect((await system.ended(queued)).status).toBe(Status.FINISHED)
  expect(next.started.map(({ executionId }) => executionId)).toEqual([queued])
  expect(first.started).toHaveLength(3)
  await system.stop()
})

test('a stop in the midst of starts and claims loses none: what was accepted ends there or at the next replica, once', async () => {
  const system = await System.start()
  const runs = async () => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
    return value(1)
  }
  const first = await system.runner({ slots: 4, runs })
  const accepted: string[] = []
  const callers = Array.from({ length: 16 }, async () => {
    for (;;) accepted.push(await system.start())
  })
  const refused = Promise.allSettled(callers)
  await until(() => accepted.length > 100)
  await system.replicas[0]!.part.stop(60_000)
  for (const caller of await refused)
    expect(caller).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } })
  system.replicas.shift()
  await system.addReplica()
  const next = await system.runner({ slots: 4, runs })
  for (const id of accepted) expect((await system.ended(id)).status).toBe(Status.FINISHED)
  const started = [first, next].flatMap((runner) => runner.started.map(({ executionId }) => executionId))
  expect(started.toSorted()).toEqual(accepted.toSorted())
  expect(await brokenInvariants(system)).toEqual([])
  await system.stop()
})

test.each([unavailable('The catalog is away'), tookTooLong])(
  'a run that was claimed while the catalog is away is assigned when it is back, though its replica stops: $code',
  async (failure) => {
    const system = await System.start()
    const id = await system.start()
    system.catalog.failure = failure
    const asked = system.catalog.asked
    const runner = await system.runner({ runs: () => value(1) })
    await until(() => system.catalog.asked > asked)
    const stopped = system.replicas[0]!.part.stop(60_000)
    const first = system.catalog.asked
    await until(() => system.catalog.asked > first + 1)
    system.catalog.failure = undefined
    await stopped
    expect(runner.started.map(({ executionId }) => executionId)).toEqual([id])
    system.replicas.shift()
    await system.addReplica()
    expect((await system.get(id)).status).toBe(Status.FINISHED)
    await system.stop()
  },
)

test('readiness tells of the database, partitions and runners; metrics of batches, runs and queue', async () => {
  const system = await System.start()
  await system.runner({ slots: 3 })
  await system.run()
  const [{ part }] = system.replicas as [(typeof system.replicas)[number]]
  expect(await part.ready()).toEqual([
    { name: 'execution database', ok: true },
    { name: 'partitions', ok: true, detail: 'for 1 days ahead' },
    { name: 'runners', ok: true, detail: '1 connected, 3 slots' },
    { name: 'replicas', ok: true, detail: '1 there' },
    { name: 'event bus', ok: true, detail: 'in process' },
  ])
  const text = await system.metrics.metrics()
  for (const line of [
    'execution_flush_items_count{writer="start"} 1',
    'execution_flush_items_count{writer="end"} 1',
    'execution_ended_total{status="FINISHED"} 1',
    'execution_partition_days 1',
  ])
    expect(text).toContain(line)
  await system.stop()
})

test('what execution of a further cell measures names the cell', async () => {
  const system = await System.start({ cell: 'blue' })
  const text = await system.metrics.metrics()
  expect(text).toContain('execution_partition_days{cell="blue"} 1')
  expect(text).toContain('execution_running{cell="blue"} 0')
  await system.stop()
})
