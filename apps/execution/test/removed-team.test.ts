import { installsProcessId } from '@automation/contract/installs'
import { InstallService } from '@automation/contract/execution/v1/install'
import { TeamRemovalService } from '@automation/contract/execution/v1/team_removal'
import { teamMoved } from '@automation/errors'
import { operatorContext, removalSteps, serviceContext, until, userContext } from '@automation/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { System } from './system.ts'

let system: System
beforeEach(async () => {
  system = await System.start()
})
afterEach(async () => {
  expect(await brokenInvariants(system)).toEqual([])
  await system.stop()
})

/** Removes the team `demo`: from then on its slug is another team's. */
async function removeTeam(): Promise<void> {
  const removal = system.neighbours.client(TeamRemovalService)
  await until(async () => (await removal.stopTeam({ team: 'demo', waiting: true }, operatorContext())).done)
  await until(async () => (await removal.removeTeam({ team: 'demo' }, operatorContext())).done)
}

test('a team with the slug of a removed one installs packages as its first run', async () => {
  const install = () => {
    const installId = crypto.randomUUID()
    const spec = { processId: installsProcessId, processName: 'install', isInstall: true, versionId: installId }
    for (const tag of ['', installId]) system.catalog.put(installsProcessId, spec, tag)
    const installs = system.replicas[0]!.network.client(InstallService)
    return installs.startInstall({ installId, timeoutMs: 60_000 }, serviceContext('process-catalog', 'demo'))
  }
  await install()
  await removeTeam()
  const { executionId } = await install()
  expect(await system.rows('SELECT id FROM executions')).toEqual([{ id: executionId }])
})

test('a team with the slug of a removed one, but of another cell, starts no run here', async () => {
  await system.start()
  await removeTeam()
  system.catalog.failures.set('getTeam demo', teamMoved())
  system.catalog.put('of the new team')
  const start = system.executions.startExecution({ identifier: 'of the new team' }, userContext('demo'))
  await expect(start).rejects.toMatchObject({ code: 'team_moved' })
  expect(await system.rows('SELECT team FROM team_slots')).toEqual([])
})

test('what else there is of a team goes some thousand rows at a time', async () => {
  await system.rows(
    `INSERT INTO start_keys (team, scope, key, expires_at)
     SELECT 'demo', 'webhook', n::text, now() + interval '1 day' FROM generate_series(1, 11000) n RETURNING 1`,
  )
  const removal = system.neighbours.client(TeamRemovalService)
  const removed = await removalSteps(() => removal.removeTeam({ team: 'demo' }, operatorContext()))
  expect(Math.max(...removed)).toBeLessThanOrEqual(6000)
  expect(removed.reduce((sum, each) => sum + each, 0)).toBeGreaterThanOrEqual(11_000)
  expect(await system.rows('SELECT key FROM start_keys')).toEqual([])
})

test('however many callbacks other teams have, a removal reads none of them', async () => {
  await system.rows(
    `INSERT INTO callbacks (execution_id, sequence, team, origin, done_at)
     SELECT gen_random_uuid(), 3, 'other', 'https://receiver.example.com', now() FROM generate_series(1, 20000)`,
  )
  await system.rows('ANALYZE callbacks')
  await removeTeam()
  // What connections have read is counted when they are closed.
  for (const { part } of system.replicas.splice(0)) await part.stop(0)
  const open = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%FROM callbacks%'"
  await until(async () => (await system.rows(`${open} AND pid <> pg_backend_pid()`)).length === 0)
  const read = "SELECT seq_tup_read < 20000 AS few FROM pg_stat_user_tables WHERE relname = 'callbacks'"
  expect(await system.rows(read)).toEqual([{ few: true }])
})
