import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import { EventStream } from '../client/event-stream.ts'
import type { Execution, Process } from '../client/records.ts'
import { runAdmin, startSystem } from '../system/system.ts'
import type { System } from '../system/system.ts'
import { clientOf } from './client-of.ts'
import { expectProblem } from './problem.ts'
import { awaitEnd, awaitStatus, execute, executionOf, makeProcess, statusesOf } from './runs.ts'
import { shared } from './shared-system.ts'

const settings = {
  TEAM_MAX_RUNNING: '2',
  TEAM_MAX_QUEUED: '3',
  SYNC_WAIT_MAX_MS: '4000',
  RUN_TIMEOUT_MS: '20000',
  RUN_TIMEOUT_MAX_MS: '30000',
  PARAMETERS_MAX_BYTES: '2048',
  RETURN_VALUE_MAX_BYTES: '4096',
  LOG_MAX_LINES: '20',
  BODY_MAX_BYTES: '65536',
  HEADER_PREFIX: 'X-Acme-',
  RUNNER_SLOTS: '4',
  SHUTDOWN_GRACE_MS: '8000',
  // As on a machine without slirp4netns and passt.
  ISOLATION_NETWORK: 'host',
  ISOLATION_MANY_TEAMS: 'false',
}

const endless = 'console.log("first"); await new Promise((done) => setTimeout(done, 200000))'

/**
 * A system with narrow limits, in the number of teams too: what happens beyond them. The tests share its two slots, so they
 * follow each other.
 */
describe.skipIf(!shared.owned)('a system with narrow limits', { concurrent: false }, () => {
  let system: System
  let small: Client
  const sync = (id: string, input: unknown = {}, headers: Record<string, string> = {}) =>
    small.post(`/processes/${id}/execute-sync`, input, { headers })
  const timed = () =>
    makeProcess(
      { sourceCode: 'await new Promise((done) => setTimeout(done, svc.context.parameters.ms)); return 1' },
      small,
    )
  const start = (process: Process, ms: number) =>
    execute(process, { parameters: { ms }, settings: { timeout: 30_000 } }, small)
  /** As many as may run at once. One that still waits would count as ahead of those behind it. */
  const twoRunning = async (process: Process) => {
    const ids = [await start(process, 60_000), await start(process, 60_000)]
    for (const id of ids) await awaitStatus(id, ({ status }) => status === 'RUNNING', undefined, small)
    return ids
  }
  const killAll = async (ids: string[]) => {
    for (const id of ids) expect((await small.put(`/executions/${id}/kill`)).status).toBe(202)
  }

  beforeAll(async () => {
    system = await startSystem({ team: 'small', env: settings })
    small = await clientOf(system)
  })

  let stopping: Promise<void> | undefined
  afterAll(() => stopping ?? system?.stop())

  test('where runs have no network of their own the team of the first run is served, runs of others wait and are told why', async () => {
    const admin = async (...args: string[]) => (await runAdmin(args, system.env)).stdout.trim()
    const isQueued = ({ status }: Execution) => status === 'QUEUED'
    await admin('teams', 'create', 'second')
    const apiToken = await admin('tokens', 'create', 'second', '--name', 'second')
    const second = await clientOf({ ...system, team: 'second', apiToken })
    const sourceCode = 'return 1'
    const served = await execute(await makeProcess({ sourceCode }, small), {}, small)
    expect((await awaitEnd(served, undefined, small)).status).toBe('FINISHED')
    const waits = await execute(await makeProcess({ sourceCode }, second), {}, second)
    const { timeline } = await awaitStatus(waits, isQueued, undefined, second)
    expect(timeline.events.at(-1)?.explanation).toMatch(
      /serve one team each.*as runs have no network of their own: .*ISOLATION_MANY_TEAMS=true/,
    )
    const again = await execute(await makeProcess({ sourceCode }, small), {}, small)
    expect((await awaitEnd(again, undefined, small)).status).toBe('FINISHED')
    await awaitStatus(waits, isQueued, undefined, second)
    const made = await admin('teams', 'create', 'third')
    expect(made).toMatch(/third is made.\nIts runs will wait: .*\(small\), as .*ISOLATION_MANY_TEAMS=true/)
    expect(made).toContain('tokens create third')
  })

  test('an address that signs in is that of the console that runs, whatever the environment of the command says', async () => {
    const { CONSOLE_URL, CONSOLE_PORT: _, ...others } = system.env
    const { stdout } = await runAdmin(['console', 'link'], others)
    expect(stdout.startsWith(`${CONSOLE_URL}/sign-in#code=`), stdout).toBe(true)
  })

  test('a sync call beyond its longest wait answers 408, and the run goes on', async () => {
    const sourceCode = `while ((await svc.storage.list().catch(() => [])).length === 0) await new Promise((done) => setTimeout(done, 100))`
    const process = await makeProcess({ sourceCode }, small)
    const answer = await sync(process.id)
    const executionId = answer.headers.get('x-acme-execution-id') ?? ''
    expectProblem(answer, 408, { executionId })
    expect((await executionOf(executionId, small)).status).toBe('RUNNING')
    const put = await small.call('POST', '/storage/objects', { query: { filename: 'go' }, body: 'go' })
    expect(put.status, put.text).toBe(204)
    expect((await awaitEnd(executionId, 30_000, small)).status).toBe('FINISHED')
  })

  test('beyond the running limit runs wait QUEUED with the reason, beyond the queue they are REJECTED', async () => {
    const process = await timed()
    const running = await twoRunning(process)
    const waiting = [await start(process, 0), await start(process, 0), await start(process, 0)]
    for (const id of waiting) {
      const execution = await executionOf(id, small)
      expect(statusesOf(execution)).toEqual(['CREATED', 'QUEUED'])
      expect(execution.timeline.events.at(-1)?.explanation).toMatch(/\S/)
    }

    const rejected = await executionOf(await start(process, 0), small)
    expect(rejected.status).toBe('REJECTED')
    expect(statusesOf(rejected)).toEqual(['CREATED', 'REJECTED'])
    const answer = await sync(process.id)
    expectProblem(answer, 429, { executionId: answer.headers.get('x-acme-execution-id') ?? '' })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)

    await killAll(running)
    const ended = await Promise.all(waiting.map((id) => awaitEnd(id, 20_000, small)))
    for (const execution of ended)
      expect(statusesOf(execution)).toEqual(['CREATED', 'QUEUED', 'DEQUEUED', 'RUNNING', 'FINISHED'])
    const starts = ended.map(
      ({ timeline }) => timeline.events.find(({ status }) => status === 'RUNNING')?.timestamp ?? '',
    )
    expect(starts).toEqual(starts.toSorted())
  })

  test('a killed run that waited never starts, and its position in the queue is free', async () => {
    const process = await timed()
    const running = await twoRunning(process)
    const waiting = [await start(process, 0), await start(process, 0), await start(process, 0)]
    const last = waiting[2] ?? ''
    expect((await small.put(`/executions/${last}/kill`)).status).toBe(202)
    const killed = await executionOf(last, small)
    expect(statusesOf(killed)).toEqual(['CREATED', 'QUEUED', 'KILLED'])
    const next = await start(process, 0)
    expect((await executionOf(next, small)).status).toBe('QUEUED')
    await killAll(running)
    for (const id of [...waiting.slice(0, 2), next]) expect((await awaitEnd(id, 20_000, small)).status).toBe('FINISHED')
    expect(await executionOf(last, small)).toEqual(killed)
  })

  test('as many parents as there are slots, all in runSync, finish', async () => {
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

  test('the live stream of a run that waits says why; that of one that was rejected has ended', async () => {
    const process = await makeProcess({ sourceCode: endless }, small)
    const ids = []
    for (let n = 0; n < 6; n += 1) ids.push(await execute(process, { settings: { timeout: 30_000 } }, small))
    const [first = '', second = '', waiting = '', ...others] = ids
    const rejected = others.pop() ?? ''
    const over = await EventStream.open(small, rejected)
    await over.closed
    expect(over.summary).toEqual(['CREATED', `log ${over.events.at(-2)?.data.explanation}`, 'REJECTED', 'end'])
    const stream = await EventStream.open(small, waiting)
    await stream.has('QUEUED')
    expect(stream.events[1]?.data.explanation).toMatch(/\w+ \w+/)
    await killAll([...others, first])
    await stream.has('log first')
    await killAll([waiting, second])
    await stream.closed
    const statuses = ['CREATED', 'QUEUED', 'DEQUEUED', 'RUNNING', 'log first', 'KILLED', 'end']
    expect(stream.summary).toEqual(statuses.toSpliced(5, 0, `log ${stream.events.at(-2)?.data.explanation}`))
  })

  test('a stop of the system closes its live streams at once, without an end', async () => {
    const id = await execute(await makeProcess({ sourceCode: endless }, small), {}, small)
    const stream = await EventStream.open(small, id)
    await stream.has('log first')
    const began = performance.now()
    stopping = system.stop()
    await stream.closed
    expect(performance.now() - began).toBeLessThan(7500)
    expect(stream.summary).not.toContain('end')
    await stopping
  })
})
