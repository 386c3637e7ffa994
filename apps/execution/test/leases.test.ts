import { LogLevel, Status } from '@automation/contract/execution/v1/execution'
import { RunnerService } from '@automation/contract/runner/v1/runner'
import { ownContext } from '@automation/rpc'
import { until, userContext } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { isTerminal } from '../src/status.ts'
import { brokenInvariants } from './invariants.ts'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System
const page = { page: 0, limit: 100 }
const open = { runs: () => undefined }
const asRunner = () => ownContext({ role: 'runner', team: '', subject: 'r', name: 'r' }, 5000)

beforeAll(async () => {
  // Renewals are to reach a server that writes to a slow disk in time.
  system = await System.start({ runnerLeaseMs: 1500 })
})
afterEach(async () => expect(await brokenInvariants(system)).toEqual([]))
afterAll(() => system.stop())

test('a run whose runner has vanished ends as ERROR "runner lost" within two leases, its caller hears of it', async () => {
  // Long enough for a busy machine to keep to it.
  const runnerLeaseMs = 3000
  const own = await System.start({ runnerLeaseMs })
  const runner = await own.runner(open)
  const outcome = own.run()
  const run = await runner.run()
  runner.crash()
  const began = performance.now()
  expect(await outcome).toMatchObject({ status: Status.ERROR, explanation: 'runner lost' })
  expect(performance.now() - began).toBeLessThan(2 * runnerLeaseMs)
  const { timeline } = await own.get(run.executionId)
  expect(timeline.map(({ status }) => status)).toEqual([Status.CREATED, Status.RUNNING, Status.ERROR])
  expect(await brokenInvariants(own)).toEqual([])
  await own.stop()
})

test('a frozen runner that comes back is refused: no renewal, no result, and its run stays lost', async () => {
  const runner = await system.runner(open)
  const id = await system.start()
  const run = await runner.run(id)
  runner.freeze()
  await system.ended(id)
  await expect(runner.renew()).rejects.toMatchObject({ kind: 'failed_precondition', code: 'session_lost' })
  const other = await system.runner()
  other.say({ case: 'result', value: { executionId: id, fence: run.fence, end: value('late') } })
  await until(() => other.stored.includes(id))
  const { status, returnValue } = await system.get(id)
  expect([status, returnValue]).toEqual([Status.ERROR, undefined])
  await until(() => runner.failure)
  expect(runner.failure).toMatchObject({ code: 'session_lost' })
  await other.goodbye()
})

test('a session that was lost can not be opened again', async () => {
  const runner = await system.runner()
  runner.crash()
  await until(
    async () =>
      (await system.rows('SELECT 1 FROM sessions WHERE id = $1 AND ended_at IS NOT NULL', [runner.sessionId])).length,
  )
  const client = system.neighbours.client(RunnerService)
  async function* hello() {
    const value = { sessionId: runner.sessionId, runnerName: 'back', pool: 'default', slots: 1 }
    yield { message: { case: 'hello' as const, value } }
    await new Promise(() => undefined)
  }
  const answers = client.work(hello(), asRunner())[Symbol.asyncIterator]()
  await expect(answers.next()).rejects.toMatchObject({ code: 'session_lost' })
})

test('a result with another fence is refused', async () => {
  const runner = await system.runner(open)
  const id = await system.start()
  const run = await runner.run(id)
  runner.send(id, {
    case: 'result',
    value: { executionId: id, fence: run.fence + 1n, end: value('forged') },
  })
  await until(() => runner.stored.includes(id))
  expect((await system.get(id)).status).toBe(Status.RUNNING)
  runner.finish(id, value('right'))
  expect(Buffer.from((await system.ended(id)).returnValue!).toString()).toBe('"right"')
  await runner.goodbye()
})

test('a runner that knows id and fence of a run of another brings neither its result nor lines of its log', async () => {
  const runner = await system.runner(open)
  const other = await system.runner({ slots: 0 })
  const id = await system.start()
  const { fence } = await runner.run(id)
  const linesOf = (message: string) => ({ first: 0, entries: [{ timeUs: 1n, level: LogLevel.INFO, message }] })
  other.say({ case: 'logs', value: { executionId: id, fence, chunk: linesOf('forged line') } })
  const forged = { executionId: id, fence, end: value('forged'), lastLogs: linesOf('forged end') }
  other.say({ case: 'result', value: forged })
  await until(() => other.stored.includes(id))
  expect((await system.get(id)).status).toBe(Status.RUNNING)
  runner.send(id, { case: 'logs', value: { executionId: id, fence, chunk: linesOf('right line') } })
  runner.finish(id, value('right'))
  expect(Buffer.from((await system.ended(id)).returnValue!).toString()).toBe('"right"')
  const { entries } = await system.executions.listLogs({ executionId: id, page }, userContext('demo'))
  expect(entries.map(({ message }) => message)).toEqual(['right line'])
  await Promise.all([runner.goodbye(), other.goodbye()])
})

test('callers get what the right runner brings, also where another brings results of the same runs at the same time', async () => {
  const other = await system.runner({ slots: 0 })
  const runner = await system.runner({
    slots: 20,
    runs: ({ executionId, fence }) => {
      other.say({ case: 'result', value: { executionId, fence, end: value('forged') } })
      return value('right')
    },
  })
  const outcomes = await Promise.all(Array.from({ length: 60 }, () => system.run()))
  expect(new Set(outcomes.map(({ returnValue }) => Buffer.from(returnValue!).toString()))).toEqual(new Set(['"right"']))
  await Promise.all([runner.goodbye(), other.goodbye()])
})

test('a result that comes twice is stored once', async () => {
  const runner = await system.runner(open)
  const id = await system.start()
  await runner.run(id)
  const result = { executionId: id, fence: runner.started[0]!.fence, end: value(1) }
  for (let times = 0; times < 3; times++) runner.send(id, { case: 'result', value: result })
  await until(() => runner.stored.length === 3)
  const ends = (await system.get(id)).timeline.filter(({ status }) => isTerminal(status))
  expect(ends.map(({ status }) => status)).toEqual([Status.FINISHED])
  await runner.goodbye()
})

test('a run that its runner does not name a lease after the assignment is lost; what it names and has ended, it is told', async () => {
  const runner = await system.runner(open)
  const id = await system.start()
  await runner.run(id)
  const client = system.neighbours.client(RunnerService)
  const renew = (executionIds: string[]) =>
    client.renewSession({ sessionId: runner.sessionId, executionIds }, asRunner())
  expect((await renew([])).endedExecutionIds).toEqual([])
  await until(async () => {
    await renew([])
    return (await system.get(id)).status === Status.ERROR
  })
  expect((await system.get(id)).timeline.at(-1)?.explanation).toMatch(/^runner lost/)
  expect((await renew([id])).endedExecutionIds).toEqual([id])
  await runner.goodbye()
})

test('a runner that says goodbye leaves nothing behind: its runs end as ERROR "service stopped" at once', async () => {
  const runner = await system.runner(open)
  const id = await system.start()
  await runner.run(id)
  await runner.goodbye()
  expect((await system.ended(id)).timeline.at(-1)?.explanation).toBe('service stopped')
})

test('a run long past its time is ended, though its runner renews and says nothing', async () => {
  const runner = await system.runner(open)
  const id = await system.start('demo', { settings: { timeoutMs: 100 } })
  await runner.run(id)
  const { timeline } = await system.ended(id)
  expect(timeline.at(-1)).toMatchObject({
    status: Status.ERROR,
    explanation: 'TimeoutError: the run took longer than 100 ms',
  })
  await until(() => runner.killed.includes(id))
  await runner.goodbye()
})

test("another replica's runs are untouched when one is added", async () => {
  const runner = await system.runner(open)
  const id = await system.start()
  await runner.run(id)
  await system.addReplica()
  expect((await system.get(id)).status).toBe(Status.RUNNING)
  runner.finish(id)
  expect((await system.ended(id)).status).toBe(Status.FINISHED)
  await runner.goodbye()
})

test('with the database to itself, a replica ends at its start what was cut off', async () => {
  const runner = await system.runner(open)
  const id = await system.start()
  await runner.run(id)
  await system.addReplica({ exclusive: true })
  const { timeline } = await system.get(id)
  expect(timeline.at(-1)).toMatchObject({
    status: Status.ERROR,
    explanation: 'runner lost: the service was restarted while it ran',
  })
  runner.crash()
})
