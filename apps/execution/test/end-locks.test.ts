import { Status } from '@automation/contract/execution/v1/execution'
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

test('ends of teams whose rows are locked hold up no ends of others, whether these come with them or after them', async () => {
  const locked = ['one', 'two', 'alpha', 'beta']
  const teams = [...locked, 'gamma', 'delta']
  const runner = await system.runner({ slots: 8, runs: () => undefined })
  const ids = new Map<string, string>()
  for (const team of teams) ids.set(team, await system.start(team))
  for (const id of ids.values()) await runner.run(id)
  const client = await system.sql.connect()
  try {
    await client.query('BEGIN')
    await client.query('SELECT FROM team_slots WHERE team = ANY ($1) FOR UPDATE', [locked])
    // Two are on their way, so that the others come together.
    for (const [at, team] of ['one', 'two'].entries()) {
      runner.finish(ids.get(team)!)
      await until(async () => (await system.rows(isLocked)).length > at, { everyMs: 5 })
    }
    for (const team of ['alpha', 'beta', 'gamma']) runner.finish(ids.get(team)!)
    await system.ended(ids.get('gamma')!, 'gamma', 15_000)
    runner.finish(ids.get('delta')!)
    await system.ended(ids.get('delta')!, 'delta', 15_000)
    for (const team of locked) expect((await system.get(ids.get(team)!, team)).status).toBe(Status.RUNNING)
    await client.query('ROLLBACK')
    for (const team of locked) await system.ended(ids.get(team)!, team, 15_000)
  } finally {
    client.release(true)
  }
  await runner.goodbye()
  expect(await brokenInvariants(system)).toEqual([])
}, 40_000)
