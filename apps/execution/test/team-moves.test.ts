import { TeamMoveService } from '@automation/contract/execution/v1/team_move'
import { operatorContext, until } from '@automation/testing'
import { unavailable } from '@automation/errors'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newExecutionId } from '../src/execution-id.ts'
import { failing, warnings } from './failures.ts'
import { System } from './system.ts'

let system: System
beforeAll(async () => {
  system = await System.start()
})
afterAll(() => system.stop())

test('a team joins a cell again, however long it takes to remove the keys of its starts that came too late', async () => {
  await system.rows(
    `INSERT INTO team_slots (team, moved_to, moved_at) VALUES ('demo', 'east', now())
     ON CONFLICT (team) DO UPDATE SET moved_to = excluded.moved_to, moved_at = excluded.moved_at`,
  )
  await system.rows(
    `INSERT INTO start_keys (team, scope, key, execution_id, expires_at)
     VALUES ('demo', 'webhook', 'late', $1, now() + interval '1 day')`,
    [newExecutionId()],
  )
  await system.rows(
    `CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(5); RETURN OLD; END $$`,
  )
  await system.rows('CREATE TRIGGER take_long BEFORE DELETE ON start_keys FOR EACH ROW EXECUTE FUNCTION take_long()')
  await system.neighbours.client(TeamMoveService).joinTeam({ team: 'demo' }, operatorContext())
  expect(await system.rows('SELECT FROM start_keys')).toEqual([])
  expect(await system.rows('SELECT moved_to FROM team_slots')).toEqual([{ moved_to: null }])
})

test('a run whose error handler is given up while its team is copied goes along once more, with the line that says so', async () => {
  await system.runner({ runs: failing })
  system.catalog.put('fails')
  system.catalog.errorHandlers.set('mover', { processSlug: 'comes' })
  system.catalog.failures.set('getTeam mover', unavailable('Not now'))
  // The team is asked for its cell, too, before its first run.
  await system.rows("INSERT INTO team_slots (team) VALUES ('mover')")
  const { executionId } = await system.run('mover', { identifier: 'fails' })
  const moves = system.neighbours.client(TeamMoveService)
  // All of its own has happened before.
  const mark = `${newExecutionId()}.${2n ** 60n}`
  const changed = async () => {
    const request = { team: 'mover', mark, changed: true }
    return (await moves.readExecutions(request, operatorContext())).executionIds
  }
  expect(await changed()).toEqual([])
  system.catalog.failures.clear()
  const lines = await until(async () => {
    const found = await warnings(system, executionId, 'mover')
    return found.length > 0 && found
  })
  expect(lines).toEqual(['The error handler comes was not started: Process not found'])
  expect(await changed()).toEqual([executionId])
})
