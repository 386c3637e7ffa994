import { LogLevel } from '@automation/contract/execution/v1/execution'
import { until, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nothing, type ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'
import { Watched } from './watched.ts'

let system: System
let runner: ScriptedRunner

beforeAll(async () => {
  system = await System.start({ teamMaxRunning: 20 }, 2)
  runner = await system.runner({ slots: 40, runs: () => undefined })
})
afterAll(() => system.stop())

const watch = (id: string, { after = '', team = 'demo', replica = 0 } = {}) =>
  new Watched(system.replicas[replica]!, id, after, team)

async function started(team = 'demo'): Promise<string> {
  const id = await system.start(team)
  await runner.run(id)
  return id
}

const fenceOf = (id: string) => runner.started.find(({ executionId }) => executionId === id)!.fence

function log(id: string, first: number, ...messages: string[]): void {
  const entries = messages.map((message) => ({ timeUs: 1n, level: LogLevel.INFO, message }))
  runner.send(id, { case: 'logs', value: { executionId: id, fence: fenceOf(id), chunk: { first, entries } } })
}

function finish(id: string, first: number, ...messages: string[]): void {
  const entries = messages.map((message) => ({ timeUs: 1n, level: LogLevel.INFO, message }))
  const value = { executionId: id, fence: fenceOf(id), end: nothing, lastLogs: { first, entries } }
  runner.send(id, { case: 'result', value })
}

test('a reader is told of statuses and lines in their order as they come, the log before the end, the end last', async () => {
  const id = await started()
  const readers = [watch(id), watch(id), watch(id, { replica: 1 })]
  for (const reader of readers) await reader.has('RUNNING')
  log(id, 0, 'a', 'b')
  for (const reader of readers) await reader.has('log b')
  finish(id, 2, 'c')
  for (const reader of readers) {
    await reader.done
    expect(reader.observed).toEqual(['CREATED', 'RUNNING', 'log a', 'log b', 'log c', 'FINISHED', 'end FINISHED'])
  }
})

test('lines arrive soon where they are stored, and at another replica', async () => {
  const id = await started()
  const [near, far] = [watch(id), watch(id, { replica: 1 })]
  await Promise.all([near.has('RUNNING'), far.has('RUNNING')])
  const began = performance.now()
  log(id, 0, 'soon')
  await far.has('log soon')
  await near.has('log soon')
  expect(performance.now() - began).toBeLessThan(10_000)
  runner.finish(id)
  await Promise.all([near.done, far.done])
})

test('from every position a reader goes on without a gap or a repetition, at any replica, during the run and after it', async () => {
  const id = await started()
  const whole = watch(id)
  log(id, 0, '0', '1', '2')
  await whole.has('log 2')
  log(id, 3, '3', '4')
  await whole.has('log 4')
  const during = whole.positions.map((after, index) => watch(id, { after, replica: index % 2 }))
  for (const reader of during) await reader.opened
  finish(id, 5, '5')
  await whole.done
  const after = whole.positions.map((position, index) => watch(id, { after: position, replica: index % 2 }))
  for (const [index, reader] of during.entries()) {
    await reader.done
    expect(reader.observed).toEqual(whole.observed.slice(index + 1))
  }
  for (const [index, reader] of after.entries()) {
    await reader.done
    const rest = whole.observed.slice(index + 1)
    expect(reader.observed).toEqual(rest.length > 0 ? rest : ['end FINISHED'])
  }
  expect(new Set(whole.positions).size).toBe(whole.positions.length)
})

test('a log of many chunks comes whole, in messages of a bounded size', async () => {
  const id = await started()
  const line = 'x'.repeat(1000)
  for (let first = 0; first < 1000; first += 10)
    log(id, first, ...Array.from({ length: 10 }, (_, n) => `${first + n} ${line}`))
  finish(id, 1000, 'last')
  await system.ended(id)
  let largest = 0
  const numbers: string[] = []
  const context = { ...userContext('demo'), deadlineMs: undefined }
  for await (const { updates } of system.executions.watchExecution({ executionId: id }, context)) {
    const texts = updates.flatMap(({ update }) => (update.case === 'log' ? [update.value.message] : []))
    largest = Math.max(largest, texts.join('').length)
    numbers.push(...texts.map((text) => text.split(' ')[0]!))
  }
  expect(numbers).toEqual([...Array.from({ length: 1000 }, (_, n) => String(n)), 'last'])
  expect(largest).toBeLessThan(12 * 1024)
})

test('a line that is added after the end is found by whoever comes again', async () => {
  const id = await started()
  finish(id, 0, 'own')
  const first = watch(id)
  await first.done
  await system.executions.appendLogs({ executionId: id, level: LogLevel.ERROR, message: 'added' }, userContext('demo'))
  const again = watch(id, { after: first.positions.at(-1) })
  await again.done
  expect(again.observed).toEqual(['log added', 'end FINISHED'])
  const third = watch(id, { after: again.positions[0] })
  await third.done
  expect(third.observed).toEqual(['end FINISHED'])
  const whole = watch(id)
  await whole.done
  expect(whole.observed).toEqual(['CREATED', 'RUNNING', 'log own', 'log added', 'FINISHED', 'end FINISHED'])
})

test('a kill at another replica ends the stream, behind the lines that were still on their way', async () => {
  const id = await started()
  const reader = watch(id)
  await reader.has('RUNNING')
  await system.replicas[1]!.executions.killExecution({ id }, userContext('demo'))
  log(id, 0, 'on its way')
  await reader.done
  expect(reader.observed).toEqual([
    'CREATED',
    'RUNNING',
    'log on its way',
    'log Killed by tester',
    'KILLED',
    'end KILLED',
  ])
})

test('a run that waits says why, and goes on', async () => {
  const running = await Promise.all(Array.from({ length: 20 }, () => started('busy')))
  const id = await system.start('busy')
  const reader = watch(id, { team: 'busy' })
  await reader.has('QUEUED')
  expect(reader.explanations[1]).toMatch(/\w+ \w+/)
  runner.finish(running[0]!)
  await reader.has('DEQUEUED', 'RUNNING')
  for (const other of [...running.slice(1), id]) runner.finish(other)
  await reader.done
  expect(reader.observed.slice(-2)).toEqual(['FINISHED', 'end FINISHED'])
})

test('what is not there, is not theirs, or was never a position is refused', async () => {
  const id = await started()
  const reader = watch(id)
  await reader.has('RUNNING')
  const [position] = reader.positions
  for (const [wrong, team] of [
    [id, 'other'],
    ['0190a0a0-0000-7000-8000-000000000000', 'demo'],
    ['nonsense', 'demo'],
  ] as const)
    await expect(watch(wrong, { team }).opened).rejects.toMatchObject({ code: 'execution_not_found' })
  const mark = id.slice(-8)
  const wrong = [
    '1',
    'x',
    `${mark}.0.0.0`,
    `${mark}.9.0.0`,
    `${mark}.1.-1.0`,
    `${position}0000000000`,
    `00000000.1.0.0`,
  ]
  for (const after of wrong)
    await expect(watch(id, { after }).opened).rejects.toMatchObject({ code: 'invalid_position' })
  reader.leave()
  runner.finish(id)
})

test('a reader that goes leaves nothing behind', async () => {
  const id = await started()
  const readers = Array.from({ length: 20 }, () => watch(id))
  for (const reader of readers) await reader.has('RUNNING')
  const count = async () => Number(/^execution_watchers (\d+)/m.exec(await system.replicas[0]!.metrics.metrics())?.[1])
  await until(async () => (await count()) === 20)
  for (const reader of readers) reader.leave()
  await until(async () => (await count()) === 0)
  runner.finish(id)
})

test('a replica that stops ends its streams at once; they go on at another', async () => {
  const replica = await system.addReplica()
  const id = await started()
  const reader = new Watched(replica, id)
  await reader.has('RUNNING')
  const stopped = replica.part.stop(60_000)
  const began = performance.now()
  await expect(reader.done).rejects.toMatchObject({ kind: 'unavailable' })
  expect(performance.now() - began).toBeLessThan(30_000)
  const again = watch(id, { after: reader.positions.at(-1) })
  await again.opened
  runner.finish(id)
  await again.done
  expect(again.observed).toEqual(['FINISHED', 'end FINISHED'])
  await stopped
})
