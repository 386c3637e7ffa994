import { TeamRemovalService } from '@automation/contract/catalog/v1/team_removal'
import { operatorContext, removalSteps, refusal } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

test('a team is removed step by step, however much it has, and no other', async () => {
  const [big, other] = [await catalog.team('big'), await catalog.team('other')]
  for (const caller of [big, other]) {
    const process = await catalog.process(caller)
    await catalog.versions.publishVersion({ process: process.id, tag: 'v1' }, caller)
    await catalog.variables.createVariable({ key: 'A', value: 'a' }, caller)
  }
  await catalog.withoutTriggers(
    'processes',
    `INSERT INTO processes SELECT (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'slug', 'p' || n))).*
       FROM processes p, generate_series(1, 5000) n WHERE team = 'big'`,
    [],
  )
  await catalog.withoutTriggers(
    'versions',
    `INSERT INTO versions SELECT (jsonb_populate_record(v, jsonb_build_object('id', gen_random_uuid(), 'process_id', p.id))).*
       FROM versions v, processes p WHERE v.team = 'big' AND p.team = 'big' AND p.id <> v.process_id`,
    [],
  )
  const removal = catalog.client(TeamRemovalService)
  await removal.beginRemoval({ team: 'big' }, operatorContext())
  const steps = await removalSteps(() => removal.removeTeam({ team: 'big' }, operatorContext()))
  for (const removed of steps) expect(removed).toBeLessThanOrEqual(1000)
  expect(steps.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(10_000)
  await removal.finishRemoval({ team: 'big' }, operatorContext())
  for (const table of ['processes', 'versions', 'variables', 'team_changes', 'team_change_counts', 'revisions'])
    expect(await catalog.sql(`SELECT DISTINCT team FROM ${table}`), table).toEqual([{ team: 'other' }])
  expect(await refusal(catalog.team('big'))).toBe('team_removed_lately')
  expect((await catalog.processes.listProcesses({}, other)).processes).toHaveLength(1)
})
