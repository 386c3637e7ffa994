import { SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import { refusal, until, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MemoryDriver } from './memory-driver.ts'
import { becomes, SandboxesUnderTest, type Replica } from './sandboxes-under-test.ts'

let under: SandboxesUnderTest
let replica: Replica<MemoryDriver>
const demo = () => userContext('demo')

beforeAll(async () => {
  under = await SandboxesUnderTest.open()
  replica = await under.replica(new MemoryDriver(true))
})
afterAll(() => under.close())

const create = (timeoutMs: bigint) => replica.sandboxes.createSandbox({ imageId: 'base', timeoutMs }, demo())
const age = (id: string) =>
  under.sql.query(`UPDATE sandboxes SET created_at = created_at - interval '1 minute' WHERE id = $1`, [id])

test('past its deadline a sandbox is gone and TIMED_OUT, and can be killed but not updated', async () => {
  const { id } = await create(1000n)
  const ended = await becomes(replica, id, SandboxStatus.TIMED_OUT)
  await until(() => !replica.driver.held.has(id))
  expect(await refusal(replica.sandboxes.updateSandbox({ id, timeoutMs: 5000n }, demo()))).toBe('sandbox_ended')
  expect(await replica.sandboxes.killSandbox({ id }, demo())).toEqual(ended)
})

test('an earlier deadline holds, and so does a later one', async () => {
  const [shortened, prolonged] = await Promise.all([create(86_400_000n), create(60_000n)])
  await replica.sandboxes.updateSandbox({ id: shortened.id, timeoutMs: 60_000n }, demo())
  await replica.sandboxes.updateSandbox({ id: prolonged.id, timeoutMs: 86_400_000n }, demo())
  await under.sql.query(`UPDATE sandboxes SET timeout_at = timeout_at - interval '2 min' WHERE status <= 2`)
  await becomes(replica, shortened.id, SandboxStatus.TIMED_OUT)
  expect((await replica.sandboxes.getSandbox({ id: prolonged.id }, demo())).status).toBe(SandboxStatus.RUNNING)
})

test('a sandbox that does not answer in time has failed', async () => {
  const slow = await under.replica(new MemoryDriver(true, replica.driver.held), { createWaitMs: 1 })
  slow.driver.gate = new Promise(() => undefined)
  const { id } = await slow.sandboxes.createSandbox({ imageId: 'base' }, demo())
  await age(id)
  const failed = await becomes(replica, id, SandboxStatus.FAILED)
  expect(failed.reason).toBe('It did not answer within 30000 ms')
  await until(() => !replica.driver.held.has(id))
})

test('what the driver holds without a row is ended, and a row without a sandbox has failed', async () => {
  const order = [...replica.driver.held.values()][0] ?? { id: '', team: 'demo' }
  replica.driver.held.set('stray', { ...order, id: 'stray' } as never)
  await until(() => !replica.driver.held.has('stray'))
  const { id } = await create(60_000n)
  replica.driver.held.delete(id)
  expect((await becomes(replica, id, SandboxStatus.FAILED)).reason).toBe(replica.driver.lostReason)
})

test('one that its maker has nothing of yet is not lost, however long it takes', async () => {
  const maker = await under.replica(new MemoryDriver(true, replica.driver.held), { createWaitMs: 1 })
  const { id: lost } = await create(60_000n)
  const gate = Promise.withResolvers<void>()
  maker.driver.gate = gate.promise
  const { id } = await maker.sandboxes.createSandbox({ imageId: 'base', timeoutMs: 60_000n }, demo())
  await under.sql.query(`UPDATE sandboxes SET created_at = created_at - interval '15 s' WHERE id IN ($1, $2)`, [
    id,
    lost,
  ])
  const order = replica.driver.held.get(id)!
  for (const each of [id, lost]) replica.driver.held.delete(each)
  await becomes(replica, lost, SandboxStatus.FAILED)
  replica.driver.held.set(id, order)
  gate.resolve()
  await becomes(replica, id, SandboxStatus.RUNNING)
})

test('one that is being made when its replica stops runs when it comes in time, and fails by another when not', async () => {
  const stopping = await under.replica(new MemoryDriver(true, replica.driver.held), { createWaitMs: 0 })
  const gate = Promise.withResolvers<void>()
  stopping.driver.gate = gate.promise
  const coming = await stopping.sandboxes.createSandbox({ imageId: 'base', timeoutMs: 60_000n }, demo())
  const stopped = stopping.part.stop(20_000)
  gate.resolve()
  await stopped
  expect((await replica.sandboxes.getSandbox({ id: coming.id }, demo())).status).toBe(SandboxStatus.RUNNING)
  const hasty = await under.replica(new MemoryDriver(true, replica.driver.held), { createWaitMs: 0 })
  hasty.driver.gate = new Promise(() => undefined)
  const { id } = await hasty.sandboxes.createSandbox({ imageId: 'base', timeoutMs: 60_000n }, demo())
  await hasty.part.stop(0)
  expect((await replica.sandboxes.getSandbox({ id }, demo())).status).toBe(SandboxStatus.PENDING)
  await age(id)
  await becomes(replica, id, SandboxStatus.FAILED)
  await until(() => !replica.driver.held.has(id))
})

test('after a crash of the service its sandboxes go on where they can, and have failed where they can not', async () => {
  const { id } = await create(60_000n)
  const again = await under.replica(new MemoryDriver(true, replica.driver.held))
  expect((await again.sandboxes.getSandbox({ id }, demo())).status).toBe(SandboxStatus.RUNNING)
  await again.part.stop(0)
  const without = await under.replica(new MemoryDriver(false))
  expect(await without.sandboxes.getSandbox({ id }, demo())).toMatchObject({
    status: SandboxStatus.FAILED,
    reason: 'The service stopped, and with it the sandboxes of its machine',
  })
})
