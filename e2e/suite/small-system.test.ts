import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client, accessTokenOf } from '../client/client.ts'
import type { Answer } from '../client/client.ts'
import type { Execution } from '../client/records.ts'
import { startSystem } from '../system/system.ts'
import type { System } from '../system/system.ts'
import { expectProblem } from './problem.ts'
import { awaitEnd, awaitStatus, execute, executionOf, makeProcess, statusesOf } from './runs.ts'
import { shared } from './shared-system.ts'

const settings = {
  TEAM_MAX_RUNNING: '2',
  TEAM_MAX_QUEUED: '3',
  SYNC_WAIT_MAX_MS: '1500',
  RUN_TIMEOUT_MS: '20000',
  RUN_TIMEOUT_MAX_MS: '30000',
  PARAMETERS_MAX_BYTES: '2048',
  RETURN_VALUE_MAX_BYTES: '4096',
  LOG_MAX_LINES: '20',
  BODY_MAX_BYTES: '65536',
  HEADER_PREFIX: 'X-Acme-',
  RUNNER_SLOTS: '4',
}

/** A system with narrow limits: what happens beyond them. The tests share its two places, so they follow each other. */
describe.skipIf(!shared.owned)('a system with narrow limits', { concurrent: false }, () => {
  let system: System
  let small: Client
  const sync = (id: string, input: unknown = {}, headers: Record<string, string> = {}) =>
    small.post(`/processes/${id}/execute-sync`, input, { headers })
  const sleeper = (ms: number) =>
    makeProcess({ sourceCode: `await new Promise((done) => setTimeout(done, ${ms})); return 1` }, small)

  beforeAll(async () => {
    system = await startSystem({ team: 'small', env: settings })
    const accessToken = await accessTokenOf(system.host, system.team, system.apiToken)
    small = new Client({ host: system.host, team: system.team, accessToken })
  })

  afterAll(() => system?.stop())

  test('a sync call beyond its longest wait answers 408, and the run goes on', async () => {
    const process = await sleeper(2500)
    const started = performance.now()
    const answer = await sync(process.id)
    expect(performance.now() - started).toBeLessThan(2400)
    const executionId = answer.headers.get('x-acme-execution-id') ?? ''
    expectProblem(answer, 408, { executionId })
    expect((await executionOf(executionId, small)).status).toBe('RUNNING')
    expect((await awaitEnd(executionId, 10_000, small)).status).toBe('FINISHED')
  })

  test('a sync webhook beyond its longest wait answers 408 as well', async () => {
    const process = await makeProcess(
      { sourceCode: 'await new Promise((done) => setTimeout(done, 2200))', webhook: { enabled: true } },
      small,
    )
    const answer = await small.webhook('GET', process.slug)
    const executionId = answer.headers.get('x-acme-execution-id') ?? ''
    expectProblem(answer, 408, { executionId })
    await awaitEnd(executionId, 10_000, small)
  })

  test('beyond the running limit runs wait QUEUED with the reason, beyond the queue they are REJECTED', async () => {
    const process = await sleeper(1500)
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) ids.push(await execute(process, {}, small))
    const waiting = await executionOf(ids[4] ?? '', small)
    expect(statusesOf(waiting)).toEqual(['CREATED', 'QUEUED'])
    expect(waiting.timeline.events.at(-1)?.explanation).toMatch(/\S/)

    const rejected = await executionOf(await execute(process, {}, small), small)
    expect(rejected.status).toBe('REJECTED')
    expect(statusesOf(rejected).at(-1)).toBe('REJECTED')
    const answer = await sync(process.id)
    expectProblem(answer, 429, { executionId: answer.headers.get('x-acme-execution-id') ?? '' })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)

    const ended = await Promise.all(ids.map((id) => awaitEnd(id, 20_000, small)))
    for (const execution of ended.slice(2))
      expect(statusesOf(execution)).toEqual(['CREATED', 'QUEUED', 'DEQUEUED', 'RUNNING', 'FINISHED'])
    const starts = ended.map(
      (execution: Execution) => execution.timeline.events.find(({ status }) => status === 'RUNNING')?.timestamp ?? '',
    )
    expect(starts).toEqual(starts.toSorted())
  })

  test('a killed run that waited never starts, and its place in the queue is free', async () => {
    const process = await sleeper(1500)
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) ids.push(await execute(process, {}, small))
    expect((await small.put(`/executions/${ids[4]}/kill`)).status).toBe(202)
    const killed = await executionOf(ids[4] ?? '', small)
    expect(statusesOf(killed)).toEqual(['CREATED', 'QUEUED', 'KILLED'])
    const next = await execute(process, {}, small)
    expect((await executionOf(next, small)).status).toBe('QUEUED')
    await Promise.all([...ids, next].map((id) => awaitEnd(id, 20_000, small)))
    expect(await executionOf(ids[4] ?? '', small)).toEqual(killed)
  })

  test('as many parents as there are places, all in runSync, finish', async () => {
    const child = await makeProcess(
      { sourceCode: 'await new Promise((done) => setTimeout(done, 100)); return 1' },
      small,
    )
    const parent = await makeProcess(
      { sourceCode: `await new Promise((done) => setTimeout(done, 300)); return svc.processes.runSync('${child.id}')` },
      small,
    )
    const ids = await Promise.all([execute(parent, {}, small), execute(parent, {}, small)])
    for (const id of ids) expect((await awaitEnd(id, 15_000, small)).status).toBe('FINISHED')
  })

  test('limits of parameters, return value, log, body and time are those of the configuration', async () => {
    const process = await makeProcess({ sourceCode: 'return "x".repeat(svc.context.parameters.size)' }, small)
    expectProblem(await sync(process.id, { parameters: { s: 'x'.repeat(3000) } }), 413)
    expect((await sync(process.id, { parameters: { size: 4000 } })).status).toBe(203)
    expect((await sync(process.id, { parameters: { size: 5000 } })).status).toBe(500)
    expectProblem(await small.post('/processes', { name: 'x', sourceCode: 'x'.repeat(70_000) }), 413)
    expectProblem(await sync(process.id, { settings: { timeout: 30_001 } }), 400, { path: '/settings/timeout' })
    const noisy = await makeProcess({ sourceCode: 'for (let n = 0; n < 50; n += 1) console.log(n)' }, small)
    const id = (await sync(noisy.id)).headers.get('x-acme-execution-id') ?? ''
    const logs = await small.get<{ total: number }>(`/executions/${id}/logs`)
    expect(logs.body.total).toBe(21)
    expect((await executionOf(id, small)).settings.timeout).toBe(20_000)
  })

  test('the header prefix is the configured one, in requests and answers', async () => {
    const process = await makeProcess({ sourceCode: 'return 1', webhook: { enabled: true } }, small)
    const answers: Answer[] = [
      await small.webhook('POST', process.slug, { headers: { 'x-acme-async': 'true', 'svc-async': 'false' } }),
      await sync(process.id, {}, { 'x-acme-initiated-by': 'me' }),
    ]
    expect(answers[0]?.status).toBe(201)
    for (const { headers } of answers) {
      expect(headers.get('x-acme-execution-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers.has('svc-execution-id')).toBe(false)
    }
    const initiated = await executionOf(answers[1]?.headers.get('x-acme-execution-id') ?? '', small)
    expect(initiated.initiatedBy).toBe('me')
  })

  test('an execution that waits is started as soon as another is killed', async () => {
    const process = await sleeper(10_000)
    const ids: string[] = []
    for (let n = 0; n < 3; n += 1) ids.push(await execute(process, {}, small))
    await small.put(`/executions/${ids[0]}/kill`)
    await awaitStatus(ids[2] ?? '', ({ status }) => status === 'RUNNING', 3000, small)
    for (const id of ids.slice(1)) await small.put(`/executions/${id}/kill`)
  })
})
