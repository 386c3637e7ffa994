import { AuditType } from '@automation/contract/audit/v1/audit'
import { SchemaStore } from '@automation/database'
import { unavailable } from '@automation/errors'
import { InProcessNetwork } from '@automation/rpc'
import { AuditBook, silentLogger, testDatabase, until, type TestDatabase } from '@automation/testing'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AuditRelay, recordAudit } from '../src/index.ts'

const who = { team: 'demo', name: 'tester', initiatedBy: 'ann@example.com', ip: '192.0.2.7' }
const book = new AuditBook()
const network = new InProcessNetwork()
network.add([book.service])
let database: TestDatabase
let store: SchemaStore

beforeAll(async () => {
  database = await testDatabase()
  // The tables of a service that has an outbox.
  const migrationsDir = new URL('migrations/', import.meta.url)
  const options = { schema: 'relayed', migrationsDir, poolSize: 4, migrates: true, logger: silentLogger }
  store = new SchemaStore({ ...options, url: database.url })
  await store.open(AbortSignal.timeout(20_000))
})
afterAll(async () => {
  await store.close()
  await database.drop()
})

const record = (entityId: string, event: 'created' | 'updated' = 'created') =>
  store.transaction((client) => recordAudit(client, who, { type: AuditType.SANDBOX, event, entityId }))
const waiting = async () => (await store.query({ text: 'SELECT FROM audit_outbox' })).length

function relay(metrics = new Registry()): AuditRelay {
  const query: SchemaStore['query'] = (statement) => store.query(statement)
  return new AuditRelay({ service: 'relayed', query, neighbours: network, metrics, logger: silentLogger, everyMs: 10 })
}

test('a record comes to the catalog whole, and leaves the outbox', async () => {
  const before = Date.now()
  await record('whole')
  const relaying = relay()
  relaying.start()
  const [found] = await until(() => (book.records('whole').length > 0 ? book.records('whole') : undefined))
  expect(found).toMatchObject({
    team: 'demo',
    type: AuditType.SANDBOX,
    event: 'created',
    user: 'tester',
    initiatedBy: 'ann@example.com',
    ip: '192.0.2.7',
  })
  const madeAt = parseInt(found!.id.replaceAll('-', '').slice(0, 12), 16)
  expect(madeAt).toBeGreaterThanOrEqual(before)
  expect(madeAt).toBeLessThanOrEqual(Date.now())
  await until(async () => (await waiting()) === 0)
  await relaying.stop()
})

test('a change that is taken back leaves none', async () => {
  const change = store.transaction(async (client) => {
    await recordAudit(client, who, { type: AuditType.SANDBOX, event: 'created', entityId: 'taken-back' })
    throw unavailable('Something else failed')
  })
  await expect(change).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await waiting()).toBe(0)
})

test('while the catalog is away records wait and are counted; then each comes once, in their order', async () => {
  book.failure = unavailable('away')
  const metrics = new Registry()
  const relaying = relay(metrics)
  relaying.start()
  for (let count = 0; count < 5; count++) await record('waited', count % 2 === 0 ? 'created' : 'updated')
  await until(async () => (await metrics.metrics()).includes('audit_outbox_records{service="relayed"} 5'))
  const oldest = /^audit_outbox_oldest_seconds\{service="relayed"\} (\S+)/m.exec(await metrics.metrics())?.[1]
  expect(Number(oldest)).toBeGreaterThan(0)
  expect(Number(oldest)).toBeLessThan(60)
  expect(book.of('waited')).toEqual([])
  book.failure = undefined
  await until(() => book.of('waited').length === 5)
  expect(book.of('waited').map((line) => line.split(' ')[0])).toEqual(
    Array.from({ length: 5 }, (_, index) => (index % 2 === 0 ? 'created' : 'updated')),
  )
  await until(async () => (await metrics.metrics()).includes('audit_outbox_records{service="relayed"} 0'))
  expect(await metrics.metrics()).toContain('audit_outbox_oldest_seconds{service="relayed"} 0\n')
  await relaying.stop()
})

test('many records and several replicas: each comes once', async () => {
  const before = book.size
  await store.transaction(async (client) => {
    for (let count = 0; count < 1200; count++)
      await recordAudit(client, who, { type: AuditType.SANDBOX, event: 'created', entityId: `many-${count}` })
  })
  const replicas = [relay(), relay(), relay()]
  for (const replica of replicas) replica.start()
  await until(async () => (await waiting()) === 0)
  expect(book.size - before).toBe(1200)
  await Promise.all(replicas.map((replica) => replica.stop()))
})
