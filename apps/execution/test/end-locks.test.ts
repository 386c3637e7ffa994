import { until } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start()
})
afterAll(() => system.stop())

const isLocked = `SELECT FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%WITH ended AS%'`

test('ends of a team whose row is locked hold up no ends of others that came with them', async () => {
  const teams = ['one', 'two', 'alpha', 'beta', 'gamma']
  const runner = await system.runner({ slots: 8, runs: () => undefined })
  const ids = await Promise.all(teams.map((team) => system.start(team)))
  for (const id of ids) await runner.run(id)
  const [first, locked] = await Promise.all([system.sql.connect(), system.sql.connect()])
  try {
    for (const client of [first, locked]) await client.query('BEGIN')
    const lock = 'SELECT FROM team_slots WHERE team = ANY ($1) FOR UPDATE'
    await first.query(lock, [['one', 'two']])
    await locked.query(lock, [['alpha']])
    // Two are on their way, so that the others come together.
    for (const [at, id] of ids.slice(0, 2).entries()) {
      runner.finish(id)
      await until(async () => (await system.rows(isLocked)).length === at + 1, { everyMs: 5 })
    }
    for (const id of ids.slice(2)) runner.finish(id)
    // What a stream brings is heard in its order.
    runner.grant(0)
    await system.list({}, 'alpha')
    await first.query('ROLLBACK')
    for (const at of [3, 4]) await system.ended(ids[at]!, teams[at], 15_000)
    expect(await system.rows(isLocked)).toHaveLength(1)
    await locked.query('ROLLBACK')
    await system.ended(ids[2]!, 'alpha')
  } finally {
    first.release(true)
    locked.release(true)
  }
  await runner.goodbye()
  expect(await brokenInvariants(system)).toEqual([])
}, 40_000)
