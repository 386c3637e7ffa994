import { ReplicaService, Status } from '@automation/contract/execution/v1/execution'
import { asService, ownContext } from '@automation/rpc'
import { until, userContext } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { value, type Script } from './scripted-runner.ts'
import { System, type Replica } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start({ teamMaxRunning: 2 }, 3)
  await until(async () => (await system.rows('SELECT FROM replicas')).length === 3)
})
afterEach(async () => {
  system.hintsAreLost = false
  expect(await brokenInvariants(system)).toEqual([])
})
afterAll(() => system.stop())

/** A runner that grants all its slots to one replica. */
function runnerOf(replica: Replica, script: Script) {
  return system.runner(script, { ...system.neighbours, replicas: () => [replica.address] })
}

const start = async (replica: Replica) =>
  (await replica.executions.startExecution({ identifier: 'hello' }, userContext('demo'))).executionId

const hintsOf = async ({ metrics }: Replica) => {
  const { values } = (await metrics.getSingleMetric('execution_hints_total')?.get()) ?? { values: [] }
  return values[0]?.value ?? 0
}

// A look at the rows is made every second: what takes less was told. Once is enough, on a machine that is slow now and then.
const lookMs = 1000
async function isNotified(attempt: () => Promise<void>) {
  const times: number[] = []
  do {
    const began = performance.now()
    await attempt()
    times.push(performance.now() - began)
  } while (Math.min(...times) > lookMs * 0.6 && times.length < 20)
  expect(Math.min(...times)).toBeLessThan(lookMs * 0.6)
}

test('of the end of a run is told the replica that accepted it, and no other', async () => {
  const [first, second] = system.replicas as [Replica, Replica]
  // Each replica knows the others within the first look at their rows.
  await until(async () =>
    (await Promise.all(system.replicas.map(({ part }) => part.ready()))).every((checks) =>
      checks.some(({ detail }) => detail === '3 there'),
    ),
  )
  const runner = await runnerOf(second, { slots: 2, runs: () => value(1) })
  const before = await hintsOf(second)
  const outcome = await first.executions.runExecution(
    { start: { identifier: 'hello' }, waitMs: 30_000 },
    userContext('demo'),
  )
  expect(outcome.status).toBe(Status.FINISHED)
  await runner.goodbye()
  expect((await hintsOf(second)) - before).toBe(1)
})

test('what is queued at a replica that has no slot for it begins at once where there is one', async () => {
  const [first, second] = system.replicas as [Replica, Replica]
  const runner = await runnerOf(second, { slots: 2, runs: () => value(1) })
  await isNotified(async () => void (await system.ended(await start(first))))
  await runner.goodbye()
})

test("where a team is at its limit, a slot of it that comes free at one replica is told where the team's next run waits", async () => {
  const [first, second] = system.replicas as [Replica, Replica]
  const runners = [
    await runnerOf(first, { slots: 2, runs: () => value(1) }),
    await runnerOf(second, { slots: 4, runs: () => undefined }),
  ] as const
  await isNotified(async () => {
    const running = [await start(second), await start(second)] as const
    for (const id of running) await runners[1].run(id)
    const waiting = await start(first)
    await until(async () => (await system.get(waiting)).status === Status.QUEUED)
    runners[1].finish(running[0])
    const run = await Promise.race([runners[0].run(waiting), runners[1].run(waiting)])
    if (runners[1].started.includes(run)) runners[1].finish(waiting)
    await system.ended(waiting)
    runners[1].finish(running[1])
    await system.ended(running[1])
  })
  for (const runner of runners) await runner.goodbye()
})

test('an older replica, which only says that there may be something, has all of the queue looked at', async () => {
  const [first, second] = system.replicas as [Replica, Replica]
  const runner = await runnerOf(second, { slots: 2, runs: () => value(1) })
  system.hintsAreLost = true
  await isNotified(async () => {
    const id = await start(first)
    await second.network.client(ReplicaService).wake({ executionIds: [id] }, ownContext(asService('execution'), 2000))
    await system.ended(id)
  })
  await runner.goodbye()
})

test('where every hint is lost, runs begin and callers hear of their ends, by looks at the rows', async () => {
  const [first, second] = system.replicas as [Replica, Replica]
  const runner = await runnerOf(second, { slots: 2, runs: () => value(1) })
  system.hintsAreLost = true
  const outcomes = await Promise.all(
    [1, 2, 3].map(() =>
      first.executions.runExecution({ start: { identifier: 'hello' }, waitMs: 30_000 }, userContext('demo')),
    ),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => Status.FINISHED))
  await runner.goodbye()
})

test('a replica that has no slot for what waits asks the runner for one', async () => {
  const [first, second] = system.replicas as [Replica, Replica]
  const runner = await system.runner({ slots: 1, runs: () => undefined })
  // The one slot is with the first replica, which has a run in it.
  const running = await start(first)
  await runner.run(running)
  const waiting = await start(second)
  await until(() => runner.asked > 0)
  runner.finish(running)
  await runner.run(waiting)
  runner.finish(waiting)
  await system.ended(waiting)
  await runner.goodbye()
})

test('a kill at a replica that knows nothing of the runner ends the run there, also where the hint of it is lost', async () => {
  const [first, second] = system.replicas as [Replica, Replica]
  const runner = await runnerOf(second, { slots: 1, runs: () => undefined })
  const id = await start(second)
  await runner.run(id)
  system.hintsAreLost = true
  await first.executions.killExecution({ id }, userContext('demo'))
  await until(() => runner.killed.includes(id), { timeoutMs: 20_000, what: 'the kill at the runner' })
  await runner.goodbye()
})
