import { SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import { refusal, serviceContext, until, userContext } from '@automation/testing'
import { timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt'
import bcrypt from 'bcryptjs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { SandboxFault } from '../src/drivers/driver.ts'
import { MemoryDriver } from './memory-driver.ts'
import { becomes, SandboxesUnderTest, type Replica } from './sandboxes-under-test.ts'

let under: SandboxesUnderTest
let replica: Replica<MemoryDriver>
const demo = () => userContext('demo')
const other = () => userContext('other')
const create = (request: object = {}) => replica.sandboxes.createSandbox({ imageId: 'base', ...request }, demo())

beforeAll(async () => {
  under = await SandboxesUnderTest.open({ TEAM_MAX_SANDBOXES: '200' })
  replica = await under.replica(new MemoryDriver(), { createWaitMs: 2000 })
})
afterAll(() => under.close())

describe('a sandbox', () => {
  test('is made, read, listed and killed', async () => {
    const metadata = { purpose: 'test ü', __proto: 'x' }
    const made = await create({ name: 'mine', metadata, publicHttpPorts: [3000, 80] })
    expect(made).toMatchObject({
      name: 'mine',
      imageId: 'base',
      metadata,
      publicHttpPorts: [3000, 80],
      status: SandboxStatus.RUNNING,
      createdBy: 'tester',
    })
    expect(made.grpcApiKey).toMatch(new RegExp(`^sbx_${made.id.replaceAll('-', '')}_[\\w-]{43}$`))
    expect(await replica.sandboxes.getSandbox({ id: made.id }, demo())).toEqual(made)
    const next = await create()
    expect(next.name).toBe(`base-${next.id.slice(-8)}`)
    const { sandboxes } = await replica.sandboxes.listSandboxes({ page: { page: 0, limit: 2 } }, demo())
    expect(sandboxes).toEqual([next, made])
    const killed = await replica.sandboxes.killSandbox({ id: made.id }, demo())
    expect(killed.status).toBe(SandboxStatus.KILLED)
    expect([...replica.driver.held.keys()]).toEqual([next.id])
    expect(await replica.sandboxes.killSandbox({ id: made.id }, demo())).toEqual(killed)
  })

  test('of another team is not there', async () => {
    const { id } = await create()
    const calls = [
      replica.sandboxes.getSandbox({ id }, other()),
      replica.sandboxes.updateSandbox({ id, timeoutMs: 5000n }, other()),
      replica.sandboxes.killSandbox({ id }, other()),
      replica.sandboxes.getSandbox({ id: 'no-id' }, demo()),
    ]
    expect(await Promise.all(calls.map(refusal))).toEqual(Array(4).fill('sandbox_not_found'))
    expect((await replica.sandboxes.listSandboxes({}, other())).sandboxes).toEqual([])
    expect((await replica.sandboxes.getSandbox({ id }, demo())).status).toBe(SandboxStatus.RUNNING)
  })

  test('has a new deadline of now and the timeout, until it has ended', async () => {
    const { id } = await create({ timeoutMs: 86_400_000n })
    const before = Date.now()
    const { timeoutAt } = await replica.sandboxes.updateSandbox({ id, timeoutMs: 60_000n }, demo())
    expect(Math.abs(timestampMs(timeoutAt as Timestamp) - before - 60_000)).toBeLessThan(10_000)
    await replica.sandboxes.killSandbox({ id }, demo())
    const update = replica.sandboxes.updateSandbox({ id, timeoutMs: 60_000n }, demo())
    expect(await refusal(update)).toBe('sandbox_ended')
  })

  test('that ends by itself says why', async () => {
    const { id } = await create()
    replica.driver.crash(id, 'It ended by itself: exit 1')
    expect(await becomes(replica, id, SandboxStatus.FAILED)).toMatchObject({ reason: 'It ended by itself: exit 1' })
  })

  test('says why also in words that the database does not keep', async () => {
    const { id } = await create()
    replica.driver.crash(id, 'It ended by itself: \0 and more')
    expect(await becomes(replica, id, SandboxStatus.FAILED)).toMatchObject({
      reason: 'It ended by itself: \ufffd and more',
    })
  })

  test('that takes long is PENDING at first, and its routes say so', async () => {
    const gate = Promise.withResolvers<void>()
    const slow = await under.replica(new MemoryDriver(true, replica.driver.held), { createWaitMs: 1 })
    slow.driver.gate = gate.promise
    const made = await slow.sandboxes.createSandbox({ imageId: 'base', publicHttpPorts: [80] }, demo())
    expect(made.status).toBe(SandboxStatus.PENDING)
    const port = replica.routes.resolvePort({ sandboxId: made.id, port: 80 }, serviceContext('gateway'))
    expect(await refusal(port)).toBe('sandbox_starting')
    gate.resolve()
    await becomes(replica, made.id, SandboxStatus.RUNNING)
  })

  test('that is being made by another replica is not ended by what is seen of a pod that its maker has given up', async () => {
    const gate = Promise.withResolvers<void>()
    const maker = await under.replica(new MemoryDriver(true, replica.driver.held), { createWaitMs: 1 })
    const { id: running } = await maker.sandboxes.createSandbox({ imageId: 'base' }, demo())
    maker.driver.gate = gate.promise
    const { id } = await maker.sandboxes.createSandbox({ imageId: 'base' }, demo())
    const order = replica.driver.held.get(id)!
    for (const each of [id, running]) replica.driver.crash(each, 'It ended by itself: its pod was deleted')
    replica.driver.held.set(id, order)
    await becomes(replica, running, SandboxStatus.FAILED)
    gate.resolve()
    await becomes(replica, id, SandboxStatus.RUNNING)
    expect(replica.driver.held.has(id)).toBe(true)
  })

  test('that ends before its row says that it runs has failed for the reason that its driver tells', async () => {
    const gate = Promise.withResolvers<void>()
    const maker = await under.replica(new MemoryDriver(true, replica.driver.held), { createWaitMs: 1 })
    maker.driver.gate = gate.promise
    const { id } = await maker.sandboxes.createSandbox({ imageId: 'base' }, demo())
    void gate.promise.then(() => maker.driver.crash(id, 'It ended by itself: exit 1'))
    gate.resolve()
    expect((await becomes(replica, id, SandboxStatus.FAILED)).reason).toBe('It ended by itself: exit 1')
  })

  test('that is killed while it starts never runs', async () => {
    const gate = Promise.withResolvers<void>()
    const slow = await under.replica(new MemoryDriver(true, replica.driver.held), { createWaitMs: 1 })
    slow.driver.gate = gate.promise
    const { id } = await slow.sandboxes.createSandbox({ imageId: 'base' }, demo())
    expect((await replica.sandboxes.killSandbox({ id }, demo())).status).toBe(SandboxStatus.KILLED)
    gate.resolve()
    await until(() => !replica.driver.held.has(id))
    expect((await replica.sandboxes.getSandbox({ id }, demo())).status).toBe(SandboxStatus.KILLED)
  })
})

test('a list leaves out metadata that are too large for it together, and a single read has them', async () => {
  const context = userContext('large')
  const metadata = { note: 'x'.repeat(65_000) }
  for (let count = 0; count < 140; count++)
    await replica.sandboxes.createSandbox({ imageId: 'base', ...(count > 0 && { metadata }) }, context)
  const { sandboxes } = await replica.sandboxes.listSandboxes({ page: { page: 0, limit: 1000 } }, context)
  expect(sandboxes).toHaveLength(140)
  const bytes = sandboxes.reduce((sum, each) => sum + JSON.stringify(each.metadata).length, 0)
  expect(bytes).toBeLessThan(8 * 2 ** 20)
  expect(await replica.sandboxes.getSandbox({ id: sandboxes[0]!.id }, context)).toEqual({ ...sandboxes[0], metadata })
  const page = { page: 0, limit: 10 }
  expect((await replica.sandboxes.listSandboxes({ page }, context)).sandboxes[0]?.metadata).toEqual(metadata)
})

describe('routes', () => {
  const gateway = () => serviceContext('gateway')

  test('lead to the daemon of one that runs, by a public port and by its key', async () => {
    const made = await create({ publicHttpPorts: [3000], publicHttpPortsBasicAuth: 'me:secret word' })
    const route = await replica.routes.resolvePort({ sandboxId: made.id, port: 3000 }, gateway())
    const { daemonKey = '' } = replica.driver.held.get(made.id) ?? {}
    const daemonAddress = `unix:/nowhere/${made.id}`
    expect(route).toMatchObject({ sandboxId: made.id, team: 'demo', daemonAddress, daemonKey })
    expect(route.basicAuth?.username).toBe('me')
    expect(await bcrypt.compare('secret word', route.basicAuth?.passwordHash ?? '')).toBe(true)
    expect(await replica.routes.resolveKey({ grpcApiKey: made.grpcApiKey }, gateway())).toEqual(route)
  })

  test('are for services, and for what is there', async () => {
    const made = await create({ publicHttpPorts: [3000] })
    const wrongKey = `${made.grpcApiKey.slice(0, -1)}${made.grpcApiKey.endsWith('A') ? 'E' : 'A'}`
    const calls = [
      replica.routes.resolvePort({ sandboxId: made.id, port: 3000 }, demo()),
      replica.routes.resolvePort({ sandboxId: made.id, port: 3001 }, gateway()),
      replica.routes.resolvePort({ sandboxId: 'x', port: 3000 }, gateway()),
      replica.routes.resolveKey({ grpcApiKey: wrongKey }, gateway()),
      replica.routes.resolveKey({ grpcApiKey: 'sbx_' }, gateway()),
    ]
    const refused = ['permission_denied', 'sandbox_not_found', 'sandbox_not_found', 'sandbox_key', 'sandbox_key']
    expect(await Promise.all(calls.map(refusal))).toEqual(refused)
    await replica.sandboxes.killSandbox({ id: made.id }, demo())
    const late = [
      replica.routes.resolvePort({ sandboxId: made.id, port: 3000 }, gateway()),
      replica.routes.resolveKey({ grpcApiKey: made.grpcApiKey }, gateway()),
    ]
    expect(await Promise.all(late.map(refusal))).toEqual(['sandbox_not_found', 'sandbox_key'])
  })

  test('hold up no kill, however many are asked for', async () => {
    const made = await create({ publicHttpPorts: [3000] })
    const other = await create({ publicHttpPorts: [3000] })
    const most = 3000
    let answered = 0
    const flood = Array.from({ length: most }, () =>
      replica.routes
        .resolvePort({ sandboxId: other.id, port: 3000 }, gateway())
        .then(() => answered++)
        .catch(() => undefined),
    )
    await replica.sandboxes.killSandbox({ id: made.id }, demo())
    expect(answered).toBeLessThan(most / 2)
    await Promise.all(flood)
  })
})

test('keys and passwords are in no row', async () => {
  const made = await create({ publicHttpPortsBasicAuth: 'me:plain-password' })
  const { rows } = await under.sql.query<{ text: string }>(
    `SELECT sandboxes::text || encode(api_key, 'escape') || encode(daemon_key, 'escape') AS text FROM sandboxes`,
  )
  const all = rows.map(({ text }) => text).join('\n')
  for (const secret of [made.grpcApiKey.slice(-43), replica.driver.held.get(made.id)!.daemonKey, 'plain-password'])
    expect(all).not.toContain(secret)
})

test('metrics tell how many sandboxes start and run, and for how long the first of them starts', async () => {
  const own = await SandboxesUnderTest.open()
  const { driver, sandboxes, metrics } = await own.replica(new MemoryDriver(), { createWaitMs: 0 })
  const gate = Promise.withResolvers<void>()
  driver.gate = gate.promise
  await sandboxes.createSandbox({ imageId: 'base' }, demo())
  const oldest = async () => Number(/^sandbox_starting_oldest_seconds (\S+)/m.exec(await metrics())?.[1])
  await until(async () => (await metrics()).includes('sandbox_active{status="starting"} 1\n'))
  expect(await oldest()).toBeGreaterThan(0)
  gate.resolve()
  await until(async () => (await metrics()).includes('sandbox_active{status="running"} 1\n'))
  expect(await metrics()).toContain('sandbox_active{status="starting"} 0\n')
  expect(await oldest()).toBe(0)
  await until(async () => (await metrics()).includes('sandbox_held{driver="local"} 1\n'))
  const noRoom = Promise.withResolvers<void>()
  driver.gate = noRoom.promise
  await sandboxes.createSandbox({ imageId: 'base' }, demo())
  noRoom.reject(new SandboxFault('There is no room'))
  await until(async () => (await metrics()).includes('sandbox_starts_total{outcome="failed"} 1\n'))
  expect(await metrics()).toContain('sandbox_starts_total{outcome="started"} 1\n')
  await own.close()
})

test('nothing is made before it is known whether its team is suspended, and what runs goes on', async () => {
  const own = await SandboxesUnderTest.open()
  onTestFinished(() => own.close())
  const first = await own.replica(new MemoryDriver(true))
  const made = await first.sandboxes.createSandbox({ imageId: 'base', publicHttpPorts: [3000] }, demo())
  own.tellsLimits = false
  const { sandboxes, routes } = await own.replica(new MemoryDriver(true, first.driver.held))
  expect(await refusal(sandboxes.createSandbox({ imageId: 'base' }, demo()))).toBe('unavailable')
  await routes.resolvePort({ sandboxId: made.id, port: 3000 }, serviceContext('gateway'))
  own.tellsLimits = true
  await until(() =>
    sandboxes.createSandbox({ imageId: 'base' }, demo()).then(
      () => true,
      () => false,
    ),
  )
})
