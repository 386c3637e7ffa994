import { LogLevel, Status } from '@automation/contract/execution/v1/execution'
import { until, userContext } from '@automation/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Receiver } from './receiver.ts'
import { value, type End } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System
let receiver: Receiver

const settings = { egressAllow: ['127.0.0.0/8'], callbackPauseMs: 20, callbackTimeoutMs: 500, callbackTries: 3 }
const failed: End = { case: 'failed', value: { explanation: 'Error: broken' } }

beforeAll(async () => {
  system = await System.start(settings)
})
beforeEach(async () => {
  receiver = await Receiver.start()
})
afterEach(async () => {
  await system.dismissRunners()
  receiver.close()
})
afterAll(() => system.stop())

const start = (callbackUrl = receiver.url, of = system, team = 'demo') => of.start(team, { settings: { callbackUrl } })
const count = (n: number) => until(() => receiver.received.length >= n)
const waiting = async (of: System) => (await of.rows('SELECT 1 FROM callbacks WHERE done_at IS NULL')).length
const isDone = 'SELECT 1 FROM callbacks WHERE execution_id = $1 AND done_at IS NOT NULL'
const settled = (id: string) => until(async () => (await system.rows(isDone, [id])).length > 0)

async function warnings(id: string): Promise<string[]> {
  const { entries } = await system.executions.listLogs(
    { executionId: id, page: { page: 0, limit: 100 } },
    userContext('demo'),
  )
  return entries.filter(({ level }) => level === LogLevel.WARNING).map(({ message }) => message)
}

test('the end of a run is posted once, with its value as the record shows it and a key to know it again', async () => {
  await system.runner({ runs: () => value({ answer: 42 }) })
  const id = await start()
  await count(1)
  await settled(id)
  expect(receiver.received).toHaveLength(1)
  const [{ url, headers, body }] = receiver.received as [Receiver['received'][0]]
  expect(url).toBe('/hook?token=t0k3n')
  expect(headers['idempotency-key']).toBe(`${id}:3`)
  expect(headers['content-type']).toBe('application/json')
  const { processId } = await system.get(id)
  expect(body).toEqual({ executionId: id, processId, status: 'FINISHED', returnValue: '{"answer":42}' })
})

test('a run that fails, is killed or is rejected tells so, with the reason', async () => {
  await system.runner({ runs: () => failed })
  const broken = await start()
  await count(1)
  expect(receiver.received[0]!.body).toMatchObject({ executionId: broken, status: 'ERROR', error: 'Error: broken' })
  expect(receiver.received[0]!.body).not.toHaveProperty('returnValue')
  await system.dismissRunners()
  const killed = await start()
  await system.executions.killExecution({ id: killed }, userContext('demo'))
  await count(2)
  expect(receiver.received[1]!.body).toMatchObject({ executionId: killed, status: 'KILLED' })
  const full = await System.start({ ...settings, teamMaxQueued: 0 })
  const rejected = await full.start('demo', { settings: { callbackUrl: receiver.url } })
  await count(3)
  expect(receiver.received[2]!.body).toMatchObject({ executionId: rejected, status: 'REJECTED' })
  await full.stop()
})

test('what fails is tried again with the same key, and redirects are not followed', async () => {
  const other = await Receiver.start()
  const answers = [500, 302]
  receiver.answer = (response) => {
    const status = answers.shift() ?? 200
    response.writeHead(status, { Location: other.url }).end('x'.repeat(100_000))
  }
  await system.runner()
  const id = await start()
  await settled(id)
  const key = `${id}:${(await system.get(id)).timeline.length}`
  expect(receiver.received.map(({ headers }) => headers['idempotency-key'])).toEqual([key, key, key])
  expect(other.received).toEqual([])
  expect(await warnings(id)).toEqual([])
  other.close()
})

test('what fails for good ends with a warning in the log of the run, which holds no secret of the address', async () => {
  receiver.answer = (response) => response.writeHead(503).end()
  await system.runner()
  const id = await start()
  await settled(id)
  const [text, ...more] = await warnings(id)
  expect(more).toEqual([])
  expect(text).toContain('was not delivered, tried 3 times: the receiver answered 503')
  expect(text).not.toContain('t0k3n')
  expect(await system.metrics.metrics()).toMatch(/execution_callback_tries_total\{outcome="given_up"\} 1/)
})

test('a receiver that never answers holds up no other, and neither team nor bus', async () => {
  const crowded = await System.start(settings)
  const silent = await Receiver.start()
  silent.answer = () => undefined
  await crowded.runner({ slots: 50 })
  for (let n = 0; n < 20; n++) await start(silent.url, crowded)
  await until(() => silent.received.length > 0)
  const [own, theirs] = [await start(receiver.url, crowded), await start(receiver.url, crowded, 'other')]
  await count(2)
  // All of the silent one's are still to be tried.
  expect(await waiting(crowded)).toBeGreaterThanOrEqual(20)
  expect(new Set(receiver.received.map(({ body }) => body['executionId']))).toEqual(new Set([own, theirs]))
  silent.close()
  await crowded.stop()
})

test('callbacks are due until they are delivered: another replica makes those of one that is gone', async () => {
  const pair = await System.start(settings)
  await pair.runner()
  receiver.answer = () => undefined
  const id = await start(receiver.url, pair)
  await count(1)
  await pair.replicas[0]!.part.stop(0)
  expect(await waiting(pair)).toBe(1)
  receiver.answer = (response) => response.writeHead(200).end()
  await pair.addReplica(settings)
  await until(async () => {
    await pair.rows('UPDATE callbacks SET next_try_at = now() WHERE done_at IS NULL')
    return (await waiting(pair)) === 0
  })
  expect(receiver.received.length).toBeGreaterThan(1)
  expect(receiver.received.every(({ body }) => body['executionId'] === id)).toBe(true)
  await pair.stop()
})

test('an event that comes again makes no second callback', async () => {
  await system.runner()
  const id = await start()
  await settled(id)
  await system.rows(
    "UPDATE bus_cursors SET window_from = '0', window_to = '0', position = 0 WHERE consumer = 'callbacks'",
  )
  const next = await start()
  await until(() => receiver.received.some(({ body }) => body['executionId'] === next))
  expect(receiver.received.filter(({ body }) => body['executionId'] === id)).toHaveLength(1)
})

test('an address that leads inside is refused at delivery, though its name was no reason to refuse the call', async () => {
  const inside = await System.start({ ...settings, egressAllow: [], callbackTries: 100 })
  await inside.runner()
  const id = await inside.start('demo', { settings: { callbackUrl: 'http://example.invalid/hook' } })
  // As if the name had been another one at the call.
  await until(async () => {
    await inside.rows('UPDATE executions SET callback_url = $1', [receiver.url])
    return (await inside.rows('SELECT 1 FROM callbacks WHERE done_at IS NOT NULL')).length > 0
  })
  const { entries } = await inside.executions.listLogs(
    { executionId: id, page: { page: 0, limit: 100 } },
    userContext('demo'),
  )
  expect(entries.map(({ message }) => message).join()).toContain(
    'its address is private, and the setting EGRESS_ALLOW does not name it',
  )
  expect(receiver.received).toEqual([])
  expect((await inside.get(id)).status).toBe(Status.FINISHED)
  await inside.stop()
})
