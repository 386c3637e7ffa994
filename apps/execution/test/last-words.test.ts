import { LogLevel, Status } from '@automation/contract/execution/v1/execution'
import { FiringService } from '@automation/contract/execution/v1/firing'
import { serviceContext, userContext } from '@automation/testing'
import { v7 } from 'uuid'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { nothing, value, type ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'
import { Watched } from './watched.ts'

let system: System

beforeAll(async () => {
  system = await System.start({
    teamMaxRunning: 1,
    teamMaxQueued: 1,
    returnValueMaxBytes: 20,
    parametersMaxBytes: 2000,
  })
})
afterEach(async () => {
  await system.clear()
  expect(await brokenInvariants(system)).toEqual([])
})
afterAll(() => system.stop())

const open = { slots: 2, runs: () => undefined }

async function linesOf(id: string, limit = 100, page = 0) {
  const { entries, page: info } = await system.executions.listLogs(
    { executionId: id, page: { page, limit } },
    userContext('demo'),
  )
  return { lines: entries.map(({ level, message }) => [LogLevel[level], message]), total: info!.total }
}

/** It has one line of level ERROR, the last, which says what its timeline says; in the live stream, too. */
async function hasItsLastWord(id: string, ...before: string[]): Promise<void> {
  const { timeline } = await system.ended(id)
  const { status, explanation } = timeline.at(-1)!
  expect(explanation).toMatch(/\w/)
  const { lines, total } = await linesOf(id)
  expect(lines).toEqual([...before.map((message) => ['INFO', message]), ['ERROR', explanation]])
  expect(total).toBe(lines.length)
  const reader = new Watched(system.replicas[0]!, id)
  await reader.done
  const end = reader.observed.slice(-(before.length + 3))
  expect(end).toEqual([...[...before, explanation!].map((line) => `log ${line}`), end.at(-2), `end ${end.at(-2)}`])
  expect(timeline.filter((event) => event.status === status)).toHaveLength(1)
}

async function started(runner: ScriptedRunner): Promise<string> {
  const id = await system.start()
  await runner.run(id)
  return id
}

function log(runner: ScriptedRunner, id: string, first: number, message: string): void {
  const { fence } = runner.started.find(({ executionId }) => executionId === id)!
  const entries = [{ timeUs: 1n, level: LogLevel.INFO, message }]
  runner.send(id, { case: 'logs', value: { executionId: id, fence, chunk: { first, entries } } })
}

const kill = (id: string) => system.executions.killExecution({ id }, userContext('demo'))

test('a killed run says so in its last line, whatever of its log comes later', async () => {
  const runner = await system.runner(open)
  const id = await started(runner)
  await kill(id)
  log(runner, id, 0, 'on its way')
  await expect.poll(async () => (await linesOf(id)).total).toBe(2)
  await hasItsLastWord(id, 'on its way')
  await system.executions.appendLogs({ executionId: id, level: LogLevel.INFO, message: 'added' }, userContext('demo'))
  await hasItsLastWord(id, 'on its way', 'added')
  expect((await linesOf(id, 2, 1)).lines).toEqual([['ERROR', 'Killed by tester']])
  expect((await linesOf(id, 1, 1)).lines).toEqual([['INFO', 'added']])
})

test('lines that a runner numbers as those of the service are refused, and the run can be ended', async () => {
  const runner = await system.runner(open)
  const id = await started(runner)
  const numbers = [2_000_000_000, 1_000_000_000, 4_000_000_000]
  for (const first of numbers) log(runner, id, first, 'forged')
  log(runner, id, 0, 'said')
  await expect.poll(async () => (await linesOf(id)).total).toBeGreaterThan(0)
  await kill(id)
  await hasItsLastWord(id, 'said')
  for (const first of numbers) {
    const other = await started(runner)
    const { fence } = runner.started.at(-1)!
    const lastLogs = { first, entries: [{ timeUs: 1n, level: LogLevel.INFO, message: 'forged' }] }
    runner.send(other, { case: 'result', value: { executionId: other, fence, end: nothing, lastLogs } })
    runner.grant(1)
    expect((await system.ended(other)).status).toBe(Status.FINISHED)
    expect((await linesOf(other)).lines).toEqual([])
  }
})

test('an end that comes from elsewhere has its last line, whatever stands there', async () => {
  const runner = await system.runner(open)
  const id = await started(runner)
  const body = JSON.stringify([[1, LogLevel.INFO, 'forged']])
  await system.rows('INSERT INTO log_chunks (execution_id, first, lines, body) VALUES ($1, 2000000000, 1, $2)', [
    id,
    body,
  ])
  await kill(id)
  await hasItsLastWord(id)
})

test('a run that is killed while it waits, and one that is REJECTED, say so', async () => {
  const runner = await system.runner(open)
  const running = await started(runner)
  const [waiting, rejected] = [await system.start(), await system.start()]
  await hasItsLastWord(rejected)
  await kill(waiting)
  await hasItsLastWord(waiting)
  runner.finish(running)
  await system.ended(running)
  expect((await linesOf(running)).lines).toEqual([])
})

test('a firing that can not be started says why', async () => {
  const firings = system.replicas[0]!.network.client(FiringService)
  const processId = system.catalog.put('hello')
  const parameters = Buffer.from(JSON.stringify({ text: 'x'.repeat(3000) }))
  const firing = { scheduleId: v7(), nominalTimeMs: 1n, processId, createdBy: 'somebody', parameters }
  const { executionId } = await firings.startFiring(firing, serviceContext('scheduler', 'demo'))
  await hasItsLastWord(executionId)
})

test('a run whose packages can not be installed says why', async () => {
  system.catalog.put('needy', { awaitedDependencies: 'zod' })
  const id = await system.start('demo', { identifier: 'needy' })
  system.catalog.put('needy', { dependenciesError: 'npm error 404' })
  await hasItsLastWord(id)
})

test('a run whose runner goes, or that a restart has cut off, says so', async () => {
  const leaving = await system.runner(open)
  const left = await started(leaving)
  await leaving.goodbye()
  await hasItsLastWord(left)
  const runner = await system.runner(open)
  const cutOff = await started(runner)
  log(runner, cutOff, 0, 'said')
  await expect.poll(async () => (await linesOf(cutOff)).total).toBe(1)
  const replica = await system.addReplica({ exclusive: true })
  await hasItsLastWord(cutOff, 'said')
  await replica.part.stop(0)
  system.forget(replica)
})

test('a value that is refused here is the reason; a failure of the run itself gets no line', async () => {
  const runner = await system.runner(open)
  const large = await started(runner)
  runner.finish(large, value('x'.repeat(30)))
  await hasItsLastWord(large)
  const failed = await started(runner)
  runner.finish(failed, { case: 'failed', value: { explanation: 'Error: of its own' } })
  await system.ended(failed)
  expect((await linesOf(failed)).lines).toEqual([])
})

test('from every position a reader goes on without a gap or a repetition', async () => {
  const runner = await system.runner(open)
  const id = await started(runner)
  log(runner, id, 0, 'said')
  await expect.poll(async () => (await linesOf(id)).total).toBe(1)
  await kill(id)
  const whole = new Watched(system.replicas[0]!, id)
  await whole.done
  expect(whole.observed).toEqual(['CREATED', 'RUNNING', 'log said', 'log Killed by tester', 'KILLED', 'end KILLED'])
  for (const [index, after] of whole.positions.entries()) {
    const reader = new Watched(system.replicas[0]!, id, after)
    await reader.done
    expect(reader.observed).toEqual(index < 5 ? whole.observed.slice(index + 1) : ['end KILLED'])
  }
})
