import { Status } from '@automation/contract/execution/v1/execution'
import { silentLogger, testContext, testDatabase, until, type TestDatabase } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newExecutionId } from '../src/execution-id.ts'
import { RunTraces } from '../src/run-traces.ts'
import { errorHandlersReader, startRecordsReader, TimelineOutbox } from '../src/store/outbox.ts'
import { Partitions } from '../src/store/partitions.ts'
import { executionSchema, openPools, type Pools } from '../src/store/pools.ts'

const keptRows = 3000
let database: TestDatabase
let pools: Pools
let outbox: TimelineOutbox

beforeAll(async () => {
  database = await testDatabase(executionSchema)
  pools = await openPools(database.url, testContext(), AbortSignal.timeout(20_000))
  await new Partitions(pools.reads).ensure(Date.now())
  outbox = new TimelineOutbox(pools.events, new RunTraces(undefined), silentLogger)
  await add(Array.from({ length: keptRows }, newExecutionId))
  // What the planner knows: none of many has a callback.
  await pools.reads.query('ANALYZE executions, timeline_events')
})
afterAll(async () => {
  await pools.close()
  await database.drop()
})

/** Ended runs with one event each, of their end; gives the transaction. */
async function add(ids: string[], callbackUrl?: string): Promise<bigint> {
  const { rows } = await pools.reads.query<{ xid: string }>(
    `WITH made AS (
       INSERT INTO executions (id, team, process_id, process_name, process_slug, status, sequence, fence, pool, replica_id, slot,
                               depth, parameters, timeout_ms, fresh_process, created_by, updated_at, callback_url)
       SELECT id, 'demo', id, 'hello', 'hello', $2, 1, 1, 'default', id, 0, 0, '{}', 1000, false, 'ci', now(), $3
         FROM unnest($1::uuid[]) AS id RETURNING id
     )
     INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id)
     SELECT id, 1, $2, now(), 'demo', id FROM made RETURNING xid`,
    [ids, Status.ERROR, callbackUrl],
  )
  return BigInt(rows[0]!.xid)
}

/** How many rows of these tables were read by all connections that are closed. */
async function rowsRead(): Promise<number> {
  const { rows } = await pools.reads.query<{ count: string }>(
    `SELECT sum(idx_tup_fetch + seq_tup_read) AS count FROM pg_stat_user_tables
      WHERE relname ~ '^(executions|timeline_events)_[0-9]{8}$'`,
  )
  return Number(rows[0]!.count)
}

/** A statement over partitions is planned by what is known of the rows that are kept: no plan may begin with those. */
test.each(['callbacks', startRecordsReader, errorHandlersReader, 'kafka'])(
  'however much is kept, %s reads what is new and no more',
  async (consumer) => {
    const before = await rowsRead()
    const id = newExecutionId()
    const xid = await add([id], 'https://receiver.example.com/')
    const leadership = (await outbox.lead(consumer))!
    const events = await leadership.read({ from: xid, to: xid + 1n, position: 0n }, 500)
    expect(events.map(({ event }) => event.executionId)).toEqual([id])
    await leadership.release()
    const reading = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
                        AND query LIKE '%FROM timeline_events t%'`
    await until(async () => (await pools.reads.query(reading)).rowCount === 0)
    expect((await rowsRead()) - before).toBeLessThan(100)
  },
)
