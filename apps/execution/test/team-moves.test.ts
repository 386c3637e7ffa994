import { TeamMoveService } from '@automation/contract/execution/v1/team_move'
import { operatorContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newExecutionId } from '../src/execution-id.ts'
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
