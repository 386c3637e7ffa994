import { Status } from '@automation/contract/execution/v1/execution'
import { serviceContext, until, userContext } from '@automation/testing'
import { timestampMs } from '@bufbuild/protobuf/wkt'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createdAtMs } from '../src/execution-id.ts'
import { brokenInvariants } from './invariants.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start({}, 2)
})
afterEach(async () => expect(await brokenInvariants(system)).toEqual([]))
afterAll(() => system.stop())

const kill = (id: string, team = 'demo', replica = 0) =>
  system.replicas[replica]!.executions.killExecution({ id }, userContext(team))

test('a kill is final at once, from any replica, and the runner is told to end the processes', async () => {
  const runner = await system.runner({ slots: 2, runs: () => undefined })
  for (const replica of [0, 1]) {
    const outcome = system.run()
    const run = await until(() => runner.started[replica])
    await kill(run.executionId, 'demo', replica)
    expect((await system.get(run.executionId)).status).toBe(Status.KILLED)
    expect(await outcome).toMatchObject({ status: Status.KILLED, explanation: 'Killed by tester' })
    await until(() => runner.killed.includes(run.executionId))
  }
  await runner.goodbye()
})

test('kill against finish: one of both, the same for all, never FINISHED after a kill', async () => {
  const runner = await system.runner({ slots: 40, runs: () => undefined })
  const outcomes = Array.from({ length: 40 }, () => system.run())
  await until(() => runner.started.length === 40)
  const ids = runner.started.map((run) => run.executionId)
  const kills = ids.map(async (id, index) => {
    if (index % 2 === 0) runner.finish(id)
    const killed = kill(id, 'demo', index % 2).then(
      () => true,
      () => false,
    )
    if (index % 2 === 1) runner.finish(id)
    return { id, killed: await killed }
  })
  const ends = new Map((await Promise.all(outcomes)).map(({ executionId, status }) => [executionId, status]))
  for (const { id, killed } of await Promise.all(kills)) {
    expect(ends.get(id)).toBe(killed ? Status.KILLED : Status.FINISHED)
    expect((await system.get(id)).status).toBe(ends.get(id))
  }
  await until(() => ids.every((id) => runner.stored.includes(id) || runner.killed.includes(id)))
  await runner.goodbye()
})

test('what has ended, is not there or is not theirs can not be killed', async () => {
  const runner = await system.runner()
  const { executionId } = await system.run()
  await expect(kill(executionId)).rejects.toMatchObject({ kind: 'failed_precondition', code: 'execution_ended' })
  for (const [id, team] of [
    [executionId, 'other'],
    ['0190a0a0-0000-7000-8000-000000000000', 'demo'],
    ['nonsense', 'demo'],
  ] as const)
    await expect(kill(id, team)).rejects.toMatchObject({ kind: 'not_found', code: 'execution_not_found' })
  await runner.goodbye()
})

test('a rerun does the same again under a new id, the current source as it is now', async () => {
  const runner = await system.runner()
  system.catalog.put('again', { sourceCode: 'old' })
  system.catalog.put('again', { sourceCode: 'published' }, 'v1')
  const init = { identifier: 'again', parameters: Buffer.from('{"n":1}'), comment: 'why', settings: { timeoutMs: 500 } }
  const current = await system.run('demo', init)
  const version = await system.run('demo', { ...init, tag: 'v1' })
  system.catalog.put('again', { sourceCode: 'new' })
  const sources: string[] = []
  for (const { executionId } of [current, version]) {
    const again = await system.executions.rerunExecution({ id: executionId }, userContext('demo', { name: 'other' }))
    const ended = await system.ended(again.executionId)
    const run = await runner.run(again.executionId)
    sources.push(runner.specs.get(run.specKey)!.sourceCode)
    expect(ended).toMatchObject({ comment: 'why', createdBy: 'other', settings: { timeoutMs: 500 } })
    expect(Buffer.from(ended.parameters!).toString()).toBe('{"n":1}')
    expect(ended.id).not.toBe(executionId)
  }
  expect(sources).toEqual(['new', 'published'])
  await runner.goodbye()
})

test('a run of a version that was deleted can be run again, and one that waits goes on', async () => {
  system.catalog.put('published', { sourceCode: 'now' })
  system.catalog.put('published', { sourceCode: 'as published' }, 'v1')
  const init = { identifier: 'published', tag: 'v1' }
  const waiting = await system.start('demo', init)
  system.catalog.removeVersion('published', 'v1')
  await expect(system.start('demo', init)).rejects.toMatchObject({ code: 'version_not_found' })
  const { versionId: tag } = await system.get(waiting)
  await expect(system.start('demo', { ...init, tag })).rejects.toMatchObject({ code: 'version_not_found' })
  const runner = await system.runner()
  expect((await system.ended(waiting)).status).toBe(Status.FINISHED)
  for (let id = waiting, count = 0; count < 2; count++) {
    id = (await system.executions.rerunExecution({ id }, userContext('demo'))).executionId
    expect(await system.ended(id)).toMatchObject({ status: Status.FINISHED, versionId: tag })
  }
  const sources = runner.started.map(({ specKey }) => runner.specs.get(specKey)!.sourceCode)
  expect(sources).toEqual(['as published', 'as published', 'as published'])
  system.catalog.remove('published')
  await expect(system.executions.rerunExecution({ id: waiting }, userContext('demo'))).rejects.toMatchObject({
    code: 'process_not_found',
  })
  await runner.goodbye()
})

test('a service is told of when the oldest execution is', async () => {
  const { time } = await system.executions.getOldest({}, serviceContext('process-catalog'))
  const [oldest] = await system.rows<{ id: string }>('SELECT id FROM executions ORDER BY id LIMIT 1')
  expect(timestampMs(time!)).toBe(createdAtMs(oldest!.id))
  await expect(system.executions.getOldest({}, userContext('demo'))).rejects.toMatchObject({
    kind: 'permission_denied',
  })
})
