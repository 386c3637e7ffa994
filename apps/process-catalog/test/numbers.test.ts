import { ModuleService } from '@automation/contract/catalog/v1/module'
import type { CallContext } from '@automation/rpc'
import { serviceContext, refusal } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
const limits = { definitions: 3, versions: 2 }
beforeAll(async () => ({ catalog, stop } = await startCatalog({ limits })))
afterAll(() => stop())

const definitions: [string, (caller: CallContext, n: number) => Promise<unknown>, number][] = [
  ['processes', (caller, n) => catalog.process(caller, { name: `p${n}` }), 3],
  ['modules', (caller, n) => catalog.client(ModuleService).createModule({ name: `m${n}` }, caller), 3],
  ['variables', (caller, n) => catalog.variables.createVariable({ key: `v${n}` }, caller), 3],
]

test.each(definitions)('a team has no more %s than it may, however many are made at once', async (kind, make, most) => {
  const [caller, other] = [await catalog.team(), await catalog.team()]
  const made = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => make(caller, n)))
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(most)
  expect(await refusal(make(caller, 9))).toBe('limit_reached')
  await expect(make(caller, 9)).rejects.toMatchObject({
    kind: 'failed_precondition',
    message: `The team has 3 ${kind}, and may have no more: delete some, or ask the operator to raise definitions in TEAM_LIMITS`,
  })
  await make(other, 1)
})

test('a process has no more versions and aliases than it may; what is deleted makes room', async () => {
  const caller = await catalog.team()
  const { id: process } = await catalog.process(caller)
  const { id: another } = await catalog.process(caller)
  const publish = (tag: string, owner = process) => catalog.versions.publishVersion({ process: owner, tag }, caller)
  const alias = (name: string) => catalog.aliases.createAlias({ process, name, version: 'v1' }, caller)
  await publish('v1')
  const made = await Promise.allSettled(['v2', 'v3', 'v4', 'v5'].map((tag) => publish(tag)))
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await refusal(publish('v6'))).toBe('limit_reached')
  await publish('v1', another)
  for (const name of ['a1', 'a2']) await alias(name)
  expect(await refusal(alias('a3'))).toBe('limit_reached')
  await catalog.versions.deleteVersion(
    { process, version: made.find((each) => each.status === 'fulfilled')!.value.tag },
    caller,
  )
  await publish('v6')
})

test('of deleted versions a process keeps no more than it may have versions: those that were deleted or run again last', async () => {
  const caller = await catalog.team()
  const { id: process } = await catalog.process(caller)
  const { id: other } = await catalog.process(caller)
  const published = async (tag: string, owner = process) =>
    (await catalog.versions.publishVersion({ process: owner, tag }, caller)).id
  const remove = (version: string, owner = process) =>
    catalog.versions.deleteVersion({ process: owner, version }, caller)
  const [others, first] = [await published('v1', other), await published('v1')]
  await published('v2')
  await remove('v1', other)
  await remove('v1')
  await remove('v2')
  await catalog.sql(`UPDATE deleted_versions SET needed_at = now() - interval '2 hours' WHERE id <> $1`, [others])
  const { team } = caller.principal
  const again = { team, identifier: process, tag: first, deleted: true }
  await catalog.resolver.resolveRun(again, serviceContext('execution'))
  const third = await published('v3')
  await remove('v3')
  const kept = await catalog.sql('SELECT id::text FROM deleted_versions WHERE team = $1 ORDER BY id', [team])
  expect(kept.map(({ id }) => id)).toEqual([others, first, third])
})
