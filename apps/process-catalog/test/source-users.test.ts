import { ModuleService } from '@automation/contract/catalog/v1/module'
import { operatorContext, refusal } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const modules = () => catalog.client(ModuleService)
const importing = "import { a } from 'shouting'"

test('who imports a module: current sources and versions of processes and modules, page by page; elsewhere a number', async () => {
  const parent = await catalog.team()
  const child = await catalog.team()
  const pair = { child: child.principal.team, parent: parent.principal.team }
  await catalog.teams.grantParent(pair, operatorContext())
  const mask = { paths: ['parent_team_slugs'] }
  await catalog.teams.updateTeam({ values: { parentTeamSlugs: [pair.parent] }, mask }, child)
  const { id } = await modules().createModule({ name: 'shouting', sourceCode: 'export const a = 1' }, parent)
  const second = await catalog.process(parent, { name: 'Second', slug: 'second', sourceCode: importing })
  await catalog.versions.publishVersion({ process: second.id, tag: 'v1' }, parent)
  await catalog.process(parent, { name: 'First', slug: 'first', sourceCode: importing })
  await catalog.process(parent, { name: 'None', sourceCode: `// ${importing}` })
  const user = await modules().createModule({ name: 'greeting', sourceCode: importing }, parent)
  await catalog.process(child, { name: 'Elsewhere', sourceCode: importing })
  const list = (page: { page?: number; limit?: number }) => modules().listModuleUsers({ id, page }, parent)
  const all = await list({})
  expect(all).toMatchObject({ inOtherTeams: 1, page: { total: 4, hasNextPage: false } })
  expect(all.users.map(({ isModule, slug, name, tag }) => [isModule, slug ?? name, tag])).toEqual([
    [false, 'first', undefined],
    [false, 'second', undefined],
    [false, 'second', 'v1'],
    [true, 'greeting', undefined],
  ])
  expect(all.users.at(-1)?.id).toBe(user.id)
  const rest = await list({ page: 1, limit: 3 })
  expect([rest.users.length, rest.page?.hasNextPage]).toEqual([1, false])
  expect((await list({ page: 2 ** 31 - 1, limit: 1000 })).users).toEqual([])
  expect(await refusal(modules().listModuleUsers({ id }, child))).toBe('module_not_found')
})

test('which sources name a variable: by its key as a word, of the team alone', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.variables.createVariable({ key: 'SHOP_URL', value: 'v', isSensitive: true }, caller)
  const named = await catalog.process(caller, {
    name: 'Named',
    slug: 'named',
    sourceCode: 'return process.env.SHOP_URL',
  })
  await catalog.versions.publishVersion({ process: named.id, tag: 'v1' }, caller)
  await catalog.process(caller, { name: 'Other', sourceCode: 'return [MY_SHOP_URL, SHOP_URLS, $SHOP_URL]' })
  await modules().createModule({ name: 'urls', sourceCode: "// 'SHOP_URL'" }, caller)
  await catalog.process(await catalog.team(), { sourceCode: 'return svc.env.SHOP_URL' })
  const list = (page: { page?: number; limit?: number }) => catalog.variables.listVariableUsers({ id, page }, caller)
  const all = await list({})
  expect(all).toMatchObject({ incomplete: false, page: { total: 3, hasNextPage: false } })
  expect(all.users.map(({ isModule, name, tag }) => [isModule, name, tag])).toEqual([
    [false, 'Named', undefined],
    [false, 'Named', 'v1'],
    [true, 'urls', undefined],
  ])
  expect(await list({ page: 2 ** 31 - 1, limit: 1000 })).toMatchObject({ users: [], page: { total: 3 } })
  expect(await refusal(catalog.variables.listVariableUsers({ id }, await catalog.team()))).toBe('variable_not_found')
})

test('of many sources the newest are read, and the answer says so', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.variables.createVariable({ key: 'K', value: '', isSensitive: false }, caller)
  const old = await catalog.process(caller, { sourceCode: 'K' })
  // Live streams of changes are no matter here, and noting each is most of what a row costs.
  await catalog.withoutTriggers(
    'versions',
    `INSERT INTO versions (id, team, process_id, tag, language, source_code, dependencies, created_by, created_at)
     SELECT ('ffffffff-ffff-7fff-8fff-' || lpad(nth::text, 12, '0'))::uuid, $1, $2, nth::text, 'JAVASCRIPT', '', '{}', '', now()
     FROM generate_series(1, 10001) AS nth`,
    [caller.principal.team, old.id],
  )
  const { users, incomplete } = await catalog.variables.listVariableUsers({ id }, caller)
  expect([users, incomplete]).toEqual([[], true])
})
