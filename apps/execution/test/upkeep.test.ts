import { Status } from '@automation/contract/execution/v1/execution'
import { testContext, testDatabase, until, type TestDatabase } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dayOf, newExecutionId } from '../src/execution-id.ts'
import { Reach } from '../src/end/reaper.ts'
import { makeDayIndexes } from '../src/store/day-indexes.ts'
import { Partitions } from '../src/store/partitions.ts'
import { executionSchema, openPools, type Pools } from '../src/store/pools.ts'
import { readOverdue } from '../src/store/sessions.ts'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

const dayMs = 86_400_000
const now = Date.UTC(2026, 10, 20, 12)
let database: TestDatabase
let pools: Pools

beforeAll(async () => {
  database = await testDatabase(executionSchema)
  pools = await openPools(database.url, testContext(), AbortSignal.timeout(20_000))
})
afterAll(async () => {
  await pools.close()
  await database.drop()
})

async function tables(): Promise<string[]> {
  const { rows } = await pools.reads.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relname ~ '^executions_[0-9]{8}$' ORDER BY 1",
  )
  return rows.map(({ name }) => name)
}

test('partitions are made from yesterday to 14 days ahead, by any number of replicas at once', async () => {
  const replicas = Array.from({ length: 4 }, () => new Partitions(pools.reads))
  expect(await Promise.all(replicas.map((one) => one.ensure(now)))).toEqual([14, 14, 14, 14])
  const names = await tables()
  expect([names.length, names[0], names.at(-1)]).toEqual([16, 'executions_20261119', 'executions_20261204'])
  expect(replicas.map((one) => [one.has('20261120'), one.has('20261205')])).toEqual(replicas.map(() => [true, false]))
})

test('the days ahead become fewer where no new ones are made', async () => {
  const partitions = new Partitions(pools.reads)
  expect(partitions.daysAhead(now)).toBe(0)
  await partitions.ensure(now)
  const later = (days: number) => partitions.daysAhead(now + days * dayMs)
  expect([later(0), later(1), later(13), later(14), later(15)]).toEqual([14, 13, 1, 0, 0])
})

test('indexes that a migration has left to be made are made for the days that are there, and days to come have them', async () => {
  await new Partitions(pools.reads).ensure(now)
  const without = async () =>
    (
      await pools.reads.query<{ day: string }>(
        `SELECT c.relname AS day FROM pg_class c WHERE c.relname ~ '^executions_[0-9]{8}$' AND NOT EXISTS
           (SELECT FROM pg_indexes x WHERE x.tablename = c.relname AND x.indexdef LIKE '%(parent_id, id)%')`,
      )
    ).rows
  expect(await without()).toEqual([])
  const { rows } = await pools.reads.query<{ definition: string }>(
    `SELECT pg_get_indexdef('executions_children'::regclass) AS definition`,
  )
  await pools.reads.query('DROP INDEX executions_children')
  await pools.reads.query(rows[0]!.definition)
  expect(await without()).toHaveLength((await tables()).length)
  const { logger } = testContext()
  const make = () => makeDayIndexes(pools.hot, logger, AbortSignal.timeout(60_000), 0)
  // Of two at once one makes them.
  await Promise.all([make(), make()])
  expect(await without()).toEqual([])
  const whole = "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'executions_children'::regclass"
  expect((await pools.reads.query(whole)).rows).toEqual([{ valid: true }])
  const words = await pools.reads.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indexrelid::regclass::text LIKE '%_words' AND indisvalid ORDER BY 1`,
  )
  // Of days that are over by the clock of the server.
  const today = new Date().toISOString().slice(0, 10).replaceAll('-', '')
  const over = (await tables()).filter((name) => name < `executions_${today}`)
  expect(words.rows.map(({ name }) => name)).toEqual(expect.arrayContaining(over.map((name) => `${name}_words`)))
  // The planner knows how often words are there.
  const looked = 'SELECT relname AS name FROM pg_class WHERE relname = ANY ($1) AND reltuples >= 0 ORDER BY 1'
  expect((await pools.reads.query<{ name: string }>(looked, [over])).rows.map(({ name }) => name)).toEqual(over)
})

test('retention drops the days that are past it, executions, timeline and logs alike, and no other', async () => {
  const partitions = new Partitions(pools.reads)
  await partitions.ensure(now)
  expect(await partitions.retire(now + 3 * dayMs, 3)).toEqual([
    'executions_20261119',
    'log_chunks_20261119',
    'timeline_events_20261119',
  ])
  expect(await partitions.retire(now + 3 * dayMs, 3)).toEqual([])
  expect((await tables())[0]).toBe('executions_20261120')
  expect(partitions.has('20261119')).toBe(false)
})

test('a replica whose clock is ahead drops nothing that is not past retention by the clock of the database', async () => {
  const partitions = new Partitions(pools.reads)
  await partitions.ensure(Date.now())
  await partitions.retire(Date.now() + 60 * dayMs, 30)
  expect(await tables()).toContain(`executions_${dayOf(newExecutionId())}`)
})

test('a retirement that was interrupted is finished by the next one', async () => {
  const partitions = new Partitions(pools.reads)
  await partitions.ensure(now)
  await pools.reads.query('ALTER TABLE executions DETACH PARTITION executions_20261120')
  const dropped = await partitions.retire(now + 5 * dayMs, 4)
  expect(dropped).toContain('executions_20261120')
  await partitions.ensure(now + 5 * dayMs)
})

test('a row finds its day by its id alone', async () => {
  const id = newExecutionId()
  const { rows } = await pools.reads.query<{ day: string }>(
    `SELECT to_char(to_timestamp(('x' || translate(left($1, 13), '-', ''))::bit(48)::bigint / 1000.0) AT TIME ZONE 'UTC', 'YYYYMMDD') AS day`,
    [id],
  )
  expect(dayOf(id)).toBe(rows[0]!.day)
})

test('leases are called over only after the database was reached through a whole one', () => {
  const reach = new Reach(900)
  const looks = (from: number, to: number) => {
    for (let time = from; time <= to; time += 300) reach.reached(time, time + 10, time)
  }
  looks(0, 900)
  expect(reach.throughLease(600)).toBe(false)
  expect(reach.throughLease(910)).toBe(true)
  reach.missed()
  expect(reach.throughLease(1000)).toBe(false)
  looks(1000, 1900)
  expect(reach.throughLease(1911)).toBe(true)
  // This process stood still: nobody can say what was reached meanwhile.
  reach.reached(3000, 3010, 3000)
  expect(reach.throughLease(3010)).toBe(false)
  looks(3300, 3900)
  // An answer that took long says little as well.
  reach.reached(4000, 4400, 4000)
  expect(reach.throughLease(4400)).toBe(false)
})

test('a database clock that leaps, as after a machine was suspended, takes no lease away before it could be renewed', () => {
  const reach = new Reach(900)
  let databaseMs = 1_000_000
  const looks = (from: number, to: number) => {
    for (let time = from; time <= to; time += 300) reach.reached(time, time + 10, databaseMs + time)
  }
  looks(0, 1200)
  expect(reach.throughLease(1210)).toBe(true)
  databaseMs += 3_600_000
  looks(1500, 2100)
  expect(reach.throughLease(2110)).toBe(false)
  expect(reach.leaps.ms).toBeCloseTo(3_600_000, -2)
  looks(2400, 2400)
  expect(reach.throughLease(2411)).toBe(true)
  // Back again: leases last longer, and none is lost.
  databaseMs -= 3_600_000
  looks(2700, 2700)
  expect(reach.throughLease(2711)).toBe(true)
  expect(reach.leaps.ms).toBeCloseTo(3_600_000, -2)
})

test('time that a leap of the clock has taken is not counted for what ran then, and is for what began later', async () => {
  const system = await System.start()
  await system.runner({ runs: () => undefined })
  const settings = { timeoutMs: 60_000 }
  const [before, after] = [await system.start('demo', { settings }), await system.start('demo', { settings })]
  await until(async () => (await system.rows('SELECT 1 FROM executions WHERE status = 4')).length === 2)
  await system.rows(
    `UPDATE executions SET started_at = now() - CASE WHEN id = $1 THEN interval '2 hours' ELSE interval '10 minutes' END`,
    [before],
  )
  const leaps = { ms: 7_200_000.5, untilMs: Date.now() - 1_200_000 }
  const overdue = async (ms: number) => (await readOverdue(system.sql, 1000, { ...leaps, ms })).map(({ id }) => id)
  expect(await overdue(leaps.ms)).toEqual([after])
  expect((await overdue(60_000)).toSorted()).toEqual([before, after].toSorted())
  await system.stop()
})

test('a clock that leaps beyond the partitions makes new ones', async () => {
  const system = await System.start()
  await system.runner({ runs: () => value(1) })
  await system.run()
  const [{ day }] = (await system.rows<{ day: string }>(
    "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD') AS day",
  )) as [{ day: string }]
  for (const table of ['executions', 'timeline_events', 'log_chunks']) await system.rows(`DROP TABLE ${table}_${day}`)
  expect((await system.run()).status).toBe(Status.FINISHED)
  await system.stop()
})
