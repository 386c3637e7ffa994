import { operatorContext, until } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'
import { manifestsOf, succeed } from './manifests.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const { stage, install, running } = manifestsOf(() => catalog)

test('a team whose installs wait, however many they are, holds up no other team', async () => {
  const [busy, other] = [await catalog.team(), await catalog.team()]
  for (let count = 0; count < 101; count += 1)
    await catalog.process(busy, { name: `p${count}`, dependencies: { lodash: `4.${count}` } })
  await stage(other, { axios: '1' })
  await install(other)
  expect(await running(other, { axios: '1' })).toBeDefined()
})

test('nothing is begun for a suspended team; what runs is taken up, and the rest when it is resumed', async () => {
  const [caller, other] = [await catalog.team(), await catalog.team()]
  const { team } = caller.principal
  const first = await catalog.process(caller, { name: 'first', dependencies: { zod: '4' } })
  const run = await running(caller, { zod: '4' })
  await catalog.teams.suspendTeam({ team, reason: '' }, operatorContext())
  await catalog.process(caller, { name: 'second', dependencies: { zod: '3' } })
  Object.assign(run, succeed)
  await until(async () => (await catalog.spec(caller, first.id)).awaitedDependencies === '')
  // Of a team that comes later, which shows that there was a look at all.
  await stage(other, { ms: '2' })
  await install(other)
  await running(other, { ms: '2' })
  const [row] = await catalog.sql(
    `SELECT count(*) FILTER (WHERE install_id IS NOT NULL)::integer AS begun FROM dependency_manifests WHERE team = '${team}'`,
  )
  expect(row).toEqual({ begun: 0 })
  await catalog.teams.resumeTeam({ team }, operatorContext())
  expect(await running(caller, { zod: '3' })).toBeDefined()
})
