import { Status, type Outcome } from '@automation/contract/execution/v1/execution'
import { RunService } from '@automation/contract/run/v1/run'
import { until, userContext } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { asRun, nothing, value } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start({ teamMaxRunning: 8 }, 2)
})
afterEach(async () => expect(await brokenInvariants(system)).toEqual([]))
afterAll(() => system.stop())

/** A runner that grants all its slots to the second replica. */
function grantsToSecond(script: Parameters<System['runner']>[0]) {
  const [, second] = system.replicas
  return system.runner(script, {
    ...system.neighbours,
    client: (service) => second!.network.client(service),
    replicas: () => [second!.address],
  })
}

test('a sync caller of one replica hears of the end of a run that another replica claimed, transient values too', async () => {
  const runner = await grantsToSecond({ slots: 2, runs: () => value({ secret: 1 }, true) })
  const times: number[] = []
  let outcome: Outcome
  // Woken, not found by looking, which takes a second: once is enough on a machine that is slow now and then.
  do {
    const began = performance.now()
    outcome = await system.run('demo')
    times.push(performance.now() - began)
    expect(outcome.status).toBe(Status.FINISHED)
    expect(Buffer.from(outcome.returnValue!).toString()).toBe('{"secret":1}')
  } while (Math.min(...times) > 900 && times.length < 20)
  expect(Math.min(...times)).toBeLessThan(900)
  const { returnValue } = await system.get(outcome.executionId)
  expect(Buffer.from(returnValue!).toString()).toBe('"[transient]"')
  await runner.goodbye()
})

test('two replicas and two runners: no run is started twice, the limit of the team holds, all end', async () => {
  let running = 0
  let most = 0
  const runs = async () => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 4))
    running--
    return nothing
  }
  const runners = [await system.runner({ slots: 10, runs }), await system.runner({ slots: 10, runs })]
  const outcomes = await Promise.all(
    Array.from({ length: 300 }, (_, index) =>
      system.replicas[index % 2]!.executions.runExecution(
        { start: { identifier: 'hello' }, waitMs: 30_000 },
        userContext('demo'),
      ),
    ),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => Status.FINISHED))
  const started = runners.flatMap((runner) => runner.started.map((run) => run.executionId))
  expect(new Set(started).size).toBe(started.length)
  expect(started).toHaveLength(300)
  expect(most).toBeLessThanOrEqual(8)
  for (const runner of runners) await runner.goodbye()
})

test('a result is taken by another replica when the one that gave the run has stopped', async () => {
  const extra = await system.addReplica()
  const runner = await system.runner(
    { slots: 2, runs: () => undefined },
    {
      ...system.neighbours,
      replicas: () => [extra.address],
    },
  )
  const { executionId } = await extra.executions.startExecution({ identifier: 'hello' }, userContext('demo'))
  const run = await runner.run(executionId)
  await extra.part.stop(0)
  expect((await system.get(executionId)).status).toBe(Status.RUNNING)
  const { sessionId } = runner
  const other = await system.runner({ sessionId })
  other.say({ case: 'result', value: { executionId, fence: run.fence, end: value('kept') } })
  expect(Buffer.from((await system.ended(executionId)).returnValue!).toString()).toBe('"kept"')
  await until(() => other.stored.includes(executionId))
  await other.goodbye()
  system.forget(extra)
})

test('who waits at a replica that stops waits on at another', async () => {
  const extra = await system.addReplica()
  const runner = await grantsToSecond({ slots: 1, runs: () => undefined })
  const start = { identifier: 'hello' }
  const waiting = extra.executions.runExecution({ start, waitMs: 30_000 }, userContext('demo'))
  const { executionId } = await runner.run()
  await extra.part.stop(0)
  expect(await waiting).toMatchObject({ executionId, replicaStops: true })
  const wait = { executionId, waitMs: 30_000 }
  await expect(extra.executions.awaitExecution(wait, userContext('demo'))).rejects.toMatchObject({ code: 'stopping' })
  await expect(system.executions.awaitExecution(wait, userContext('other'))).rejects.toMatchObject({
    code: 'execution_not_found',
  })
  const outcome = system.executions.awaitExecution(wait, userContext('demo'))
  runner.finish(executionId, value('elsewhere'))
  expect(Buffer.from((await outcome).returnValue!).toString()).toBe('"elsewhere"')
  await runner.goodbye()
  system.forget(extra)
})

test('a run that waits for another one at a replica that stops waits on at another, for the same one', async () => {
  const extra = await system.addReplica()
  const runner = await grantsToSecond({ slots: 2, runs: () => undefined })
  const parent = await runner.run(await system.start())
  const call = { callNumber: 1, identifier: 'hello' }
  const context = () => asRun(parent, 30_000)
  const waiting = extra.network
    .client(RunService)
    .runProcess(call, context())
    .catch((error: unknown) => error)
  await until(() => runner.running === 2)
  await extra.part.stop(0)
  expect(await waiting).toMatchObject({ code: 'stopping' })
  await expect(extra.network.client(RunService).runProcess(call, context())).rejects.toMatchObject({ code: 'stopping' })
  const outcome = system.neighbours.client(RunService).runProcess(call, context())
  const child = runner.started.find(({ executionId }) => executionId !== parent.executionId)!
  runner.finish(child.executionId, value('elsewhere'))
  expect(await outcome).toMatchObject({ executionId: child.executionId, replayed: true })
  expect(Buffer.from((await outcome).returnValue!).toString()).toBe('"elsewhere"')
  runner.finish(parent.executionId, value(1))
  await system.ended(parent.executionId)
  await runner.goodbye()
  system.forget(extra)
})

test('replicas find each other by their rows: one that came a moment ago has its hints, one that went leaves no row', async () => {
  const extra = await system.addReplica()
  const runner = await grantsToSecond({ slots: 1, runs: () => value({ secret: 2 }, true) })
  // A value that is kept nowhere comes only with a hint.
  const outcome = await extra.executions.runExecution(
    { start: { identifier: 'hello' }, waitMs: 30_000 },
    userContext('demo'),
  )
  expect(Buffer.from(outcome.returnValue!).toString()).toBe('{"secret":2}')
  const addresses = async () =>
    (await system.rows<{ address: string }>('SELECT address FROM replicas ORDER BY address')).map((row) => row.address)
  expect(await addresses()).toEqual(system.replicas.map(({ address }) => address).toSorted())
  await extra.part.stop(0)
  system.forget(extra)
  expect(await addresses()).toEqual(system.replicas.map(({ address }) => address).toSorted())
  await runner.goodbye()
})

test('a replica that stops gives the slots back that it has not filled, at once', async () => {
  const extra = await system.addReplica()
  const runner = await system.runner(
    { slots: 3, runs: () => undefined },
    {
      ...system.neighbours,
      replicas: () => [extra.address],
    },
  )
  const id = await extra.executions.startExecution({ identifier: 'hello' }, userContext('demo'))
  await runner.run(id.executionId)
  const stopped = extra.part.stop(10_000)
  await until(() => runner.returned === 2)
  runner.finish(id.executionId, value(1))
  await stopped
  expect((await system.ended(id.executionId)).status).toBe(Status.FINISHED)
  system.forget(extra)
  await runner.goodbye()
})
