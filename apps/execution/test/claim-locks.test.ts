import { until } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start()
})
afterEach(async () => expect(await brokenInvariants(system)).toEqual([]))
afterAll(() => system.stop())

const blocked = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%picked%'`

test('a claim whose team changes while it waits for the row takes its runs, and no connection is lost', async () => {
  const lost: Error[] = []
  const changing = await system.sql.connect()
  changing.on('error', (error) => lost.push(error))
  try {
    for (let round = 0; round < 3; round++) {
      const team = `team-${round}`
      const ids = await Promise.all(Array.from({ length: 5 }, () => system.start(team)))
      await changing.query('BEGIN')
      await changing.query('UPDATE team_slots SET queued = queued WHERE team = $1', [team])
      const runner = await system.runner({ slots: 10 })
      await until(async () => (await system.rows(blocked)).length > 0, { everyMs: 5 })
      await changing.query('COMMIT')
      await Promise.all(ids.map((id) => system.ended(id, team)))
      await runner.goodbye()
    }
    expect(lost).toEqual([])
  } finally {
    changing.release(true)
  }
})
