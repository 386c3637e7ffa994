import { Status } from '@automation/contract/execution/v1/execution'
import { until, userContext } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start({ returnValueMaxBytes: 1000, parametersMaxBytes: 1000 })
})
afterEach(async () => expect(await brokenInvariants(system)).toEqual([]))
afterAll(() => system.stop())

test('over the waiting time, the caller is told where the run is, and the run goes on', async () => {
  const runner = await system.runner({ slots: 1, runs: () => undefined })
  const outcome = await system.run('demo', {}, 30)
  expect(outcome.status).toBe(Status.RUNNING)
  const queued = await system.run('demo', {}, 30)
  expect(queued.status).toBe(Status.QUEUED)
  runner.finish(outcome.executionId)
  expect((await system.ended(outcome.executionId)).status).toBe(Status.FINISHED)
  runner.finish((await runner.run(queued.executionId)).executionId)
  await system.ended(queued.executionId)
  await runner.goodbye()
})

test('a caller that goes away leaves the run alone', async () => {
  const runner = await system.runner({ runs: () => undefined })
  const gone = new AbortController()
  const call = system.executions.runExecution(
    { start: { identifier: 'hello' }, waitMs: 10_000 },
    { ...userContext('demo'), signal: gone.signal },
  )
  const answered = call.then((outcome) => Promise.reject(new Error(`the call was answered: ${outcome.status}`)))
  const run = await Promise.race([runner.run(), answered])
  gone.abort()
  await answered.catch(() => undefined)
  runner.finish(run.executionId, value(7))
  expect((await system.ended(run.executionId)).status).toBe(Status.FINISHED)
  await runner.goodbye()
})

test('a transient value reaches the caller and is not kept', async () => {
  const runner = await system.runner({ runs: () => value({ otp: 123 }, true) })
  const outcome = await system.run()
  expect(Buffer.from(outcome.returnValue!).toString()).toBe('{"otp":123}')
  expect(Buffer.from((await system.get(outcome.executionId)).returnValue!).toString()).toBe('"[transient]"')
  expect(await system.rows("SELECT id FROM executions WHERE return_value LIKE '%123%'")).toEqual([])
  await runner.goodbye()
})

test('a return value that is too large ends the run as ERROR', async () => {
  const runner = await system.runner({ runs: () => value('x'.repeat(1000)) })
  expect(await system.run()).toMatchObject({
    status: Status.ERROR,
    explanation: 'RangeError: the return value is larger than 1000 bytes',
  })
  await runner.goodbye()
})

test('values that PostgreSQL refuses come through: NUL, lone surrogates, invalid UTF-8', async () => {
  const odd = '{"a":"\\u0000\\ud800","n":12345678901234567890.1}'
  const runner = await system.runner({
    runs: (run) => ({ case: 'finished', value: { returnValue: run.parameters } }),
  })
  const outcome = await system.run('demo', { parameters: Buffer.from(odd), comment: 'a\0b\ud800' })
  expect(Buffer.from(outcome.returnValue!).toString()).toBe(odd)
  const execution = await system.get(outcome.executionId)
  expect(Buffer.from(execution.parameters!).toString()).toBe(odd)
  expect(Buffer.from(execution.returnValue!).toString()).toBe(odd)
  expect(execution.comment).toBe('a\uFFFDb\uFFFD')
  await runner.goodbye()
  const failing = await system.runner({
    runs: () => ({ case: 'failed', value: { explanation: 'Error: \0' } }),
  })
  expect((await system.run()).explanation).toBe('Error: \uFFFD')
  await failing.goodbye()
})

test('parameters must be a JSON object of at most the configured size', async () => {
  for (const text of ['[]', '1', 'null', '{', '{"a":1}}', '\u00a0{}']) {
    const start = system.start('demo', { parameters: Buffer.from(text) })
    await expect(start).rejects.toMatchObject({ kind: 'invalid_argument', fields: [{ path: '/parameters' }] })
  }
  const start = system.start('demo', { parameters: Buffer.from(JSON.stringify({ a: 'x'.repeat(1000) })) })
  await expect(start).rejects.toMatchObject({ kind: 'too_large', code: 'parameters_too_large' })
})

test('settings are checked at the call', async () => {
  const wrong: [object, string][] = [
    [{ agentPool: 'gpu' }, '/settings/agentPoolSlug'],
    [{ timeoutMs: 99 }, '/settings/timeout'],
    [{ timeoutMs: 3_600_001 }, '/settings/timeout'],
    [{ callbackUrl: 'ftp://example.org/' }, '/settings/callbackUrl'],
    [{ callbackUrl: 'https://user@example.org/' }, '/settings/callbackUrl'],
    [{ callbackUrl: 'http://169.254.169.254/latest' }, '/settings/callbackUrl'],
    [{ callbackUrl: 'nonsense' }, '/settings/callbackUrl'],
  ]
  for (const [settings, path] of wrong) {
    await expect(system.start('demo', { settings })).rejects.toMatchObject({
      kind: 'invalid_argument',
      fields: [{ path }],
    })
  }
  const all = { agentPool: 'gpu', timeoutMs: 99, callbackUrl: 'nonsense' }
  await expect(system.start('demo', { settings: all })).rejects.toMatchObject({
    fields: [{ path: '/settings/agentPoolSlug' }, { path: '/settings/timeout' }, { path: '/settings/callbackUrl' }],
  })
  const id = await system.start('demo', { settings: { callbackUrl: 'https://example.org/done', timeoutMs: 100 } })
  expect((await system.get(id)).settings).toMatchObject({ callbackUrl: 'https://example.org/done', timeoutMs: 100 })
  await system.executions.killExecution({ id }, userContext('demo'))
})

test('nothing is started of what is not there', async () => {
  await expect(system.start('demo', { identifier: 'absent' })).rejects.toMatchObject({ code: 'process_not_found' })
  await expect(system.start('demo', { tag: 'absent' })).rejects.toMatchObject({ code: 'version_not_found' })
  expect(await system.rows('SELECT 1 FROM executions WHERE status < 5')).toEqual([])
})

test('a run sees the catalog as it is when it starts', async () => {
  const runner = await system.runner()
  const seen: string[] = []
  for (const sourceCode of ['one', 'two', 'three']) {
    system.catalog.put('changing', { sourceCode })
    const { executionId } = await system.run('demo', { identifier: 'changing' })
    const run = await runner.run(executionId)
    seen.push(runner.specs.get(run.specKey)!.sourceCode)
  }
  expect(seen).toEqual(['one', 'two', 'three'])
  await runner.goodbye()
})

test('a runner is sent a spec again only when its content has changed', async () => {
  const runner = await system.runner()
  system.catalog.put('steady', { sourceCode: 'same', digest: 'same' })
  const first = await system.run('demo', { identifier: 'steady' })
  system.catalog.put('steady', { sourceCode: 'same', digest: 'same' })
  const second = await system.run('demo', { identifier: 'steady' })
  const keys = [first, second].map(
    ({ executionId }) => runner.started.find((run) => run.executionId === executionId)!.specKey,
  )
  expect(keys[0]).toBe(keys[1])
  await until(() => runner.specs.size === 1)
  await runner.goodbye()
})
