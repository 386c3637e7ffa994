import { SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import { until, userContext } from '@automation/testing'
import { FaultProxy } from '@automation/testing/fault-proxy'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { SandboxFault } from '../src/drivers/driver.ts'
import { MemoryDriver } from './memory-driver.ts'
import { becomes, SandboxesUnderTest, type Replica } from './sandboxes-under-test.ts'

let under: SandboxesUnderTest
let proxy: FaultProxy
let replica: Replica<MemoryDriver>
const demo = () => userContext('demo')

beforeAll(async () => {
  under = await SandboxesUnderTest.open()
  proxy = await FaultProxy.start(under.databaseUrl)
  replica = await under.replica(new MemoryDriver(true), { databaseUrl: proxy.url, createWaitMs: 400 })
})
afterEach(() => proxy.open())
afterAll(async () => {
  await under.close()
  await proxy.close()
})

const naming = (statement: string) => (sent: Buffer) => sent.includes(statement)
const gated = () => {
  const gate = Promise.withResolvers<void>()
  replica.driver.gate = gate.promise
  return gate
}
/** Asks for a sandbox; resolves once the driver makes it. */
async function asked() {
  const before = new Set(replica.driver.held.keys())
  const answer = replica.sandboxes.createSandbox({ imageId: 'base' }, demo())
  const id = await until(() => [...replica.driver.held.keys()].find((each) => !before.has(each)))
  return { id, answer }
}
/** The database is there again, and is read. */
async function back(id: string) {
  proxy.open()
  await until(() => replica.sandboxes.getSandbox({ id }, demo()).catch(() => undefined))
}
/** As if it had been asked for a minute ago. */
const age = (id: string) =>
  under.sql.query(`UPDATE sandboxes SET created_at = created_at - interval '1 minute' WHERE id = $1`, [id])

test.for([
  ['is lost on its way to the database', (statement: string) => proxy.lose(naming(statement))],
  ['is made, but its answer is lost', (statement: string) => proxy.loseAnswerTo(naming(statement))],
] as const)('a sandbox that answers is RUNNING and there, though the write of it %s', async ([, fault]) => {
  const gate = gated()
  const { id, answer } = await asked()
  fault('mark_running')
  gate.resolve()
  expect((await answer).id).toBe(id)
  await becomes(replica, id, SandboxStatus.RUNNING)
  expect((await replica.sandboxes.killSandbox({ id }, demo())).status).toBe(SandboxStatus.KILLED)
})

test('who asks for a sandbox while the database goes away has its id, and it runs when the database is back', async () => {
  const gate = gated()
  const { id, answer } = await asked()
  proxy.refuse()
  gate.resolve()
  expect(await answer).toMatchObject({ id, status: SandboxStatus.PENDING })
  await age(id)
  await back(id)
  await becomes(replica, id, SandboxStatus.RUNNING)
  expect(replica.driver.held.has(id)).toBe(true)
})

test('one that could not be had says why, though the write of it is lost', async () => {
  const gate = gated()
  const { id } = await asked()
  proxy.lose(naming('mark_ended'))
  gate.reject(new SandboxFault('No node has room'))
  expect((await becomes(replica, id, SandboxStatus.FAILED)).reason).toBe('No node has room')
})

test('one that ends by itself says why, though the write of it is lost', async () => {
  replica.driver.gate = Promise.resolve()
  const { id, answer } = await asked()
  await answer
  await age(id)
  proxy.lose(naming('mark_ended'))
  replica.driver.crash(id, 'It ended by itself: exit 3')
  expect((await becomes(replica, id, SandboxStatus.FAILED)).reason).toBe('It ended by itself: exit 3')
})

test('metrics are told while the database is away', async () => {
  proxy.refuse()
  await until(async () => (await replica.part.ready()).some(({ name, ok }) => name === 'sandbox database' && !ok))
  expect(await replica.metrics()).toContain('database_connections{schema="sandbox",pool="main",state="max"} 6\n')
})
