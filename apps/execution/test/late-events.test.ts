import { OutboxBus } from '@automation/events'
import { silentLogger, testContext, testDatabase, until, type TestDatabase } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newExecutionId } from '../src/execution-id.ts'
import { RunTraces } from '../src/run-traces.ts'
import { TimelineOutbox } from '../src/store/outbox.ts'
import { Partitions } from '../src/store/partitions.ts'
import { openPools, type Pools } from '../src/store/pools.ts'
import { partitionDays, preparedSchema } from './prepared-schema.ts'

let database: TestDatabase
let pools: Pools
let outbox: TimelineOutbox

beforeAll(async () => {
  database = await testDatabase(preparedSchema)
  pools = await openPools(database.url, testContext(), AbortSignal.timeout(20_000))
  await new Partitions(pools.reads, partitionDays).ensure(Date.now())
  outbox = new TimelineOutbox(pools.events, new RunTraces(undefined), silentLogger)
})
afterAll(async () => {
  await pools.close()
  await database.drop()
})

const insert = `INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id)
                VALUES ($1, $2, 1, now(), 'demo', $1)`

test('an event that is committed after later ones is not missed, and those of one execution stay in order', async () => {
  const heard: string[] = []
  const bus = new OutboxBus({ outbox, logger: silentLogger, lookMs: 20 })
  bus.subscribe('late', async (events) => {
    heard.push(...events.map(({ eventId }) => eventId))
  })
  await until(async () => (await pools.reads.query('SELECT 1 FROM bus_cursors')).rowCount)
  const [slow, quick] = [newExecutionId(), newExecutionId()]
  const client = await pools.reads.pool.connect()
  await client.query('BEGIN')
  await client.query(insert, [slow, 1])
  await pools.reads.query(insert, [quick, 1])
  await pools.reads.query(insert, [quick, 2])
  // Below the horizon nothing is decided yet, so nothing may be handed on.
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(heard).toEqual([])
  await client.query(insert, [slow, 2])
  await client.query('COMMIT')
  client.release()
  await until(() => heard.length === 4)
  expect(heard.filter((id) => id.startsWith(slow))).toEqual([`${slow}:1`, `${slow}:2`])
  expect(heard.filter((id) => id.startsWith(quick))).toEqual([`${quick}:1`, `${quick}:2`])
  await until(async () => (await outbox.backlog('late')).count === 0)
  await bus.close()
})

test('a large backlog comes in batches, each once, across a crash between effect and cursor', async () => {
  const heard: string[] = []
  const ids = Array.from({ length: 50 }, newExecutionId)
  const bus = () => new OutboxBus({ outbox, logger: silentLogger, lookMs: 20, batch: 7 })
  const first = bus()
  const registered = first.subscribe('batches', async () => undefined)
  await until(async () => (await pools.reads.query("SELECT 1 FROM bus_cursors WHERE consumer = 'batches'")).rowCount)
  await registered.close()
  for (const sequence of [1, 2, 3]) for (const id of ids) await pools.reads.query(insert, [id, sequence])
  const { count, oldestMs } = await outbox.backlog('batches')
  expect(count).toBe(150)
  expect(oldestMs).toBeGreaterThan(0)
  expect(oldestMs).toBeLessThan(60_000)
  let batches = 0
  first.subscribe('batches', async (events) => {
    heard.push(...events.map(({ eventId }) => eventId))
    if (++batches === 5) throw new Error('crash')
  })
  await until(() => new Set(heard).size === 150)
  await until(async () => (await outbox.backlog('batches')).count === 0)
  expect((await outbox.backlog('batches')).oldestMs).toBe(0)
  // Only the batch that failed came twice.
  expect(heard).toHaveLength(157)
  await first.close()
})

test('who asks again and again for a lead that another has needs one connection for it, and gets it once it is free', async () => {
  const first = await outbox.lead('led')
  let opened = 0
  const count = () => (opened += 1)
  pools.events.pool.on('connect', count)
  for (let times = 0; times < 5; times += 1) expect(await outbox.lead('led')).toBeUndefined()
  pools.events.pool.off('connect', count)
  expect(opened).toBeLessThanOrEqual(1)
  await first!.release()
  const second = await until(() => outbox.lead('led'))
  await second.release()
})

test('events that were written here before a restore was seen come, and restored ones that were handled do not', async () => {
  const [restored, written] = [newExecutionId(), newExecutionId()]
  // Only the cursor is ahead of this server, and the sequence is behind what was restored.
  await pools.reads.query(
    `INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id, xid, position)
     VALUES ($1, 1, 1, now(), 'demo', $1, '10', 1000000), ($1, 2, 1, now(), 'demo', $1, '11', 1000001)`,
    [restored],
  )
  await pools.reads.query(insert, [written, 1])
  await pools.reads.query(
    "INSERT INTO bus_cursors (consumer, window_from, window_to, position) VALUES ('restored', '900000000', '900000000', 0)",
  )
  const heard: string[] = []
  const bus = new OutboxBus({ outbox, logger: silentLogger, lookMs: 20 })
  bus.subscribe('restored', async (events) => {
    heard.push(...events.map(({ executionId }) => executionId))
  })
  await until(() => heard.includes(written), { what: 'the event that was written here' })
  await pools.reads.query(insert, [written, 2])
  await until(() => heard.filter((id) => id === written).length === 2, { what: 'the next event' })
  expect(heard).not.toContain(restored)
  const { rows } = await pools.reads.query<{ last: string }>('SELECT last_value AS last FROM timeline_positions')
  expect(Number(rows[0]!.last)).toBeGreaterThan(1_000_001)
  await bus.close()
})
