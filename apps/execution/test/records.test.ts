import { LogLevel, Origin, Status, type ListExecutionsRequestSchema } from '@automation/contract/execution/v1/execution'
import { until, userContext } from '@automation/testing'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { forceEnds } from '../src/store/forced-ends.ts'
import { value, type ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System
let runner: ScriptedRunner

beforeAll(async () => {
  system = await System.start()
  runner = await system.runner({ slots: 20, runs: () => undefined })
})
afterAll(() => system.stop())

test('lists are newest first, in pages, with a total, and only of the team', async () => {
  const ids: string[] = []
  for (let count = 0; count < 5; count++) ids.push(await system.finished(runner, 'pages'))
  await system.finished(runner, 'foreign')
  const pages = [0, 1, 2].map((page) => system.list({ page: { page, limit: 2 } }, 'pages'))
  const answers = await Promise.all(pages)
  expect(answers.flatMap(({ executions }) => executions.map(({ id }) => id))).toEqual(ids.toReversed())
  expect(answers.map(({ page }) => [page!.total, page!.hasNextPage])).toEqual([
    [5, true],
    [5, true],
    [5, false],
  ])
  expect(answers[0]!.executions[0]!.timeline.map(({ status }) => status)).toEqual([
    Status.CREATED,
    Status.RUNNING,
    Status.FINISHED,
  ])
})

test('lists are filtered by words, comment, process, status and time, and % and _ mean themselves', async () => {
  const team = 'filters'
  system.catalog.put('report', { processName: 'Monthly 100% Report' })
  const report = await system.finished(runner, team, { identifier: 'report', comment: 'for_the boss' })
  await new Promise((resolve) => setTimeout(resolve, 5))
  const hello = await system.finished(runner, team, { comment: 'forXthe boss' })
  const killed = await system.start(team)
  await runner.run(killed)
  await system.executions.killExecution({ id: killed }, userContext(team))
  const { processId, createdAt } = await system.get(report, team)
  const at = timestampMs(createdAt!)
  const found = async (init: MessageInitShape<typeof ListExecutionsRequestSchema>) =>
    (await system.list(init, team)).executions.map(({ id }) => id)
  expect(await found({ keywords: '100% rep' })).toEqual([report])
  expect(await found({ keywords: 'BOSS' })).toEqual([hello, report])
  expect(await found({ keywords: '1_0' })).toEqual([])
  expect(await found({ comment: 'r_t' })).toEqual([report])
  expect(await found({ processId })).toEqual([report])
  expect(await found({ processId: 'nonsense' })).toEqual([])
  expect(await found({ status: Status.KILLED })).toEqual([killed])
  expect(await found({ status: Status.FINISHED })).toEqual([hello, report])
  expect(await found({ from: timestampFromMs(at), to: timestampFromMs(at) })).toEqual([report])
  expect(await found({ to: timestampFromMs(at - 1) })).toEqual([])
  expect(await found({ from: timestampFromMs(at + 1) })).toEqual([killed, hello])
})

test('a record tells what has started it and when it ran, also where an older release did', async () => {
  const team = 'origins'
  system.catalog.put('hello', {}, 'v1')
  const id = await system.finished(runner, team, { tag: 'v1' })
  const first = await system.get(id, team)
  expect(first).toMatchObject({ origin: Origin.REST, tag: 'v1', trial: false })
  const at = (status: Status) => first.timeline.find((event) => event.status === status)!.time
  expect([first.startedAt, first.endedAt]).toEqual([at(Status.RUNNING), at(Status.FINISHED)])
  const { executionId } = await system.executions.rerunExecution({ id }, userContext(team))
  await runner.run(executionId)
  const again = await system.get(executionId, team)
  expect(again).toMatchObject({ origin: Origin.RERUN, rerunOf: id, tag: 'v1' })
  expect([again.endedAt, again.error, again.parentId]).toEqual([undefined, undefined, undefined])
  await system.rows('UPDATE executions SET origin = NULL WHERE team = $1', [team])
  const { executions } = await system.list({}, team)
  expect(executions.map(({ origin }) => origin)).toEqual([Origin.RERUN, Origin.UNSPECIFIED])
  runner.finish(executionId)
  await system.ended(executionId, team)
})

test('what belongs to another team is not there', async () => {
  const id = await system.finished(runner, 'owner')
  const otherTeam = userContext('other-team')
  const missing = { kind: 'not_found', code: 'execution_not_found' }
  await expect(system.executions.getExecution({ id }, otherTeam)).rejects.toMatchObject(missing)
  await expect(system.executions.listLogs({ executionId: id }, otherTeam)).rejects.toMatchObject(missing)
  await expect(system.executions.rerunExecution({ id }, otherTeam)).rejects.toMatchObject(missing)
  const line = { executionId: id, level: LogLevel.ERROR, message: 'x' }
  await expect(system.executions.appendLogs(line, otherTeam)).rejects.toMatchObject(missing)
  await expect(system.executions.getExecution({ id }, userContext(''))).rejects.toMatchObject({
    kind: 'permission_denied',
  })
})

test('a run that is run again belongs to the trace of who asked for that', async () => {
  const id = await system.start()
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const again = await system.executions.rerunExecution({ id }, { ...userContext('demo'), traceparent })
  const untraced = await system.executions.rerunExecution({ id: again.executionId }, userContext('demo'))
  const traces = await system.rows('SELECT id, traceparent FROM executions WHERE id = ANY ($1)', [
    [again.executionId, untraced.executionId],
  ])
  expect(new Map(traces.map((row) => [row.id, row.traceparent]))).toEqual(
    new Map([
      [again.executionId, traceparent],
      [untraced.executionId, null],
    ]),
  )
  for (const runId of [id, again.executionId, untraced.executionId]) {
    await runner.run(runId)
    runner.finish(runId, value(1))
    await system.ended(runId)
  }
})

const entries = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    timeUs: 1_700_000_000_000_000n + BigInt(from + index),
    level: LogLevel.INFO,
    message: `line ${from + index}`,
  }))

const logs = (executionId: string, page: number, limit: number) =>
  system.executions.listLogs({ executionId, page: { page, limit } }, userContext('demo'))

test('logs are there while the run goes on, oldest first, in pages across chunks, with their microseconds', async () => {
  const id = await system.start()
  const { fence } = await runner.run(id)
  for (const [first, count] of [
    [0, 7],
    [7, 1],
    [8, 5],
  ] as const)
    runner.send(id, {
      case: 'logs',
      value: { executionId: id, fence, chunk: { first, entries: entries(first, count) } },
    })
  await until(async () => (await logs(id, 0, 10)).page!.total === 13)
  const all = entries(0, 13)
  for (const limit of [1, 4, 5, 13, 100]) {
    const pages = Array.from({ length: Math.ceil(13 / limit) }, (_, page) => logs(id, page, limit))
    const got = (await Promise.all(pages)).flatMap((page) => page.entries)
    expect(got.map(({ timeUs, message }) => [timeUs, message])).toEqual(
      all.map(({ timeUs, message }) => [timeUs, message]),
    )
  }
  expect((await logs(id, 0, 13)).page!.hasNextPage).toBe(false)
  expect((await logs(id, 1, 12)).entries).toHaveLength(1)
  runner.send(id, {
    case: 'result',
    value: { executionId: id, fence, end: value(1), lastLogs: { first: 13, entries: entries(13, 2) } },
  })
  await system.ended(id)
  expect((await logs(id, 0, 100)).entries).toHaveLength(15)
})

test('lines appended from outside come last, ended or not, and never displace the run’s own', async () => {
  const id = await system.start()
  const { fence } = await runner.run(id)
  const append = (message: string, ...further: string[]) =>
    system.executions.appendLogs({ executionId: id, level: LogLevel.WARNING, message, further }, userContext('demo'))
  await append('first\0')
  runner.send(id, { case: 'logs', value: { executionId: id, fence, chunk: { first: 0, entries: entries(0, 3) } } })
  await until(async () => (await logs(id, 0, 10)).page!.total === 4)
  runner.finish(id)
  await system.ended(id)
  await append('second', 'third', 'fourth')
  await append('fifth')
  const messages = (await logs(id, 0, 10)).entries.map(({ message }) => message)
  expect(messages).toEqual(['line 0', 'line 1', 'line 2', 'first\0', 'second', 'third', 'fourth', 'fifth'])
  expect((await logs(id, 2, 2)).entries.map(({ message }) => message)).toEqual(['second', 'third'])
})

test('lines that come from outside at the same time are all kept', async () => {
  const id = await system.start()
  await runner.run(id)
  const texts = Array.from({ length: 20 }, (_, n) => `from outside ${n}`)
  const append = (message: string) =>
    system.executions.appendLogs(
      { executionId: id, level: LogLevel.WARNING, message, further: [`behind ${message}`] },
      userContext('demo'),
    )
  await Promise.all(texts.map(append))
  runner.finish(id)
  await system.ended(id)
  const messages = (await logs(id, 0, 100)).entries.map(({ message }) => message)
  expect(messages.toSorted()).toEqual(texts.flatMap((text) => [text, `behind ${text}`]).toSorted())
})

test('log lines of another assignment are refused', async () => {
  const id = await system.start()
  const { fence } = await runner.run(id)
  runner.send(id, {
    case: 'logs',
    value: { executionId: id, fence: fence + 1n, chunk: { first: 0, entries: entries(0, 3) } },
  })
  runner.send(id, { case: 'logs', value: { executionId: id, fence, chunk: { first: 3, entries: entries(3, 1) } } })
  runner.finish(id)
  await system.ended(id)
  expect(await system.rows('SELECT first FROM log_chunks WHERE execution_id = $1', [id])).toEqual([{ first: 3 }])
})

test('the last page of 100,000 lines is read about as fast as the first', async () => {
  const id = await system.start()
  const { fence } = await runner.run(id)
  for (let first = 0; first < 100_000; first += 500)
    runner.send(id, { case: 'logs', value: { executionId: id, fence, chunk: { first, entries: entries(first, 500) } } })
  await until(async () => (await system.rows('SELECT 1 FROM log_chunks WHERE execution_id = $1', [id])).length === 200)
  const timeOf = async (page: number) => {
    const began = performance.now()
    const { entries: lines, page: info } = await logs(id, page, 1000)
    expect(lines[0]!.message).toBe(`line ${page * 1000}`)
    expect([info!.total, info!.hasNextPage]).toEqual([10_001, page < 99])
    return performance.now() - began
  }
  const times: { first: number; last: number }[] = []
  for (let round = 0; round < 15; round++) times.push({ first: await timeOf(0), last: await timeOf(99) })
  const least = (which: 'first' | 'last') => Math.min(...times.map((one) => one[which]))
  expect(least('last')).toBeLessThan(least('first') * 4)
  runner.finish(id)
  await system.ended(id)
})

test('the timeline ends with the status, also where the execution ends while it is read', async () => {
  const id = await system.start()
  await runner.run(id)
  const other = await system.sql.connect()
  await other.query('BEGIN; LOCK TABLE timeline_events')
  const read = [system.get(id), system.list().then(({ executions }) => executions[0]!)]
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM timeline_events WHERE execution_id = ANY%'`
  await until(async () => (await system.sql.query(waiting)).rowCount === read.length)
  await forceEnds(other, { ids: [id], from: [Status.RUNNING], to: Status.KILLED, explanation: 'while it is read' })
  await other.query('COMMIT')
  other.release()
  for (const { status, timeline } of await Promise.all(read)) expect(timeline.at(-1)!.status).toBe(status)
  expect((await system.get(id)).status).toBe(Status.KILLED)
})
