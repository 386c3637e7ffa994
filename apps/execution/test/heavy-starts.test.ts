import { Status } from '@automation/contract/execution/v1/execution'
import { testDatabase } from '@automation/testing'
import { FaultProxy } from '@automation/testing/fault-proxy'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { preparedSchema } from './prepared-schema.ts'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

let proxy: FaultProxy
let system: System

beforeAll(async () => {
  const database = await testDatabase(preparedSchema)
  proxy = await FaultProxy.start(database.url)
  system = await System.on(database, { databaseUrl: proxy.url, pools: ['default', 'small'] })
  system.catalog.put('hello', { webhook: { enabled: true } })
  await system.runner({ pool: 'small', slots: 2 })
  await system.runner({ slots: 10, runs: ({ request }) => value(request?.length ?? 0) })
  for (const team of ['alpha', 'beta', 'gamma', 'other']) await system.run(team)
})
afterEach(async () => expect(await brokenInvariants(system)).toEqual([]))
afterAll(async () => {
  await system.stop()
  await proxy.close()
})

const requestOf = (bytes: number) => Buffer.from(JSON.stringify({ rawBody: '"'.repeat(bytes / 2) }))

/** Starts a run and waits for its end; in what is sent to the database its comment comes behind its request. */
const run = (team: string, key: string | undefined, webhook?: { request: Buffer }) => {
  const idempotencyKey = key === undefined ? undefined : { key, requestHash: new Uint8Array() }
  return system.run(team, { comment: `of ${team}`, webhook, idempotencyKey })
}
const ended = (size: number) => ({ status: Status.FINISHED, returnValue: Buffer.from(String(size)) })

/** The first statement with this text is held; `seen` says when there was the nth. */
function held(text: string, until: Promise<unknown>) {
  const times = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let count = 0
  const isOne = (sent: Buffer) => sent.includes(text)
  proxy.hold((sent) => (isOne(sent) && times[count++]?.resolve(), false), until)
  proxy.hold(isOne, until)
  return { seen: (nth: 1 | 2) => times[nth - 1]!.promise, count: () => count }
}

test.each([
  ['without a key', undefined],
  ['under a key', 'k'],
])('heavy starts hold up no others, and have more time than those: %s', async (_, key) => {
  const request = requestOf(16_000_000)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const heavy = [held('of alpha', released), held('of beta', released)]
  const light = held('of gamma', released)
  const runs = Promise.all([run('alpha', key, { request }), run('beta', key, { request })])
  // One team's waits for no other's.
  await Promise.all(heavy.map(({ seen }) => seen(1)))
  expect(await run('other', key)).toMatchObject(ended(0))
  const given = run('gamma', key)
  // It was given up, and is made again.
  await light.seen(2)
  release()
  expect(await runs).toMatchObject([ended(request.length), ended(request.length)])
  expect(heavy.map(({ count }) => count())).toEqual([1, 1])
  expect(await given).toMatchObject(ended(0))
})

test('a heavy start that stands in line holds no slot', async () => {
  const settings = { agentPool: 'small' }
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { seen, count } = held('of alpha', released)
  const request = requestOf(2_000_000)
  const heavy = [1, 2, 3].map(() => system.run('alpha', { comment: 'of alpha', webhook: { request }, settings }))
  await seen(1)
  expect(await system.run('other', { settings })).toMatchObject({ status: Status.FINISHED })
  // The first one has not been given up meanwhile.
  expect(count()).toBe(1)
  release()
  expect(await Promise.all(heavy)).toMatchObject(heavy.map(() => ({ status: Status.FINISHED })))
})

test('a heavy start whose answer is lost is made again as it was', async () => {
  const request = requestOf(2_000_000)
  const sent: Buffer[] = []
  proxy.hold((bytes) => (bytes.includes('of alpha') && sent.push(bytes), false), Promise.resolve())
  proxy.loseAnswerTo((bytes) => bytes.includes('of alpha'))
  expect(await run('alpha', undefined, { request })).toMatchObject(ended(request.length))
  // In an array a text has quotes, which double its backslashes.
  expect(sent.map((bytes) => bytes.includes('"of alpha"'))).toEqual([false, false])
})
