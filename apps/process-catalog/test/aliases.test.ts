import type { CallContext } from '@automation/rpc'
import { refusal } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

test('an alias points to a version by id or by tag', async () => {
  const { caller, process, one } = await twoVersions()
  const byTag = await alias(caller, process, 'by-tag', 'one')
  const byId = await alias(caller, process, 'by-id', one)
  expect(byTag).toMatchObject({ name: 'by-tag', versionId: one, createdBy: 'tester' })
  expect(byTag).not.toHaveProperty('updatedAt')
  expect(byId.versionId).toBe(one)
  expect(await catalog.aliases.getAlias({ process, aliasId: byId.id }, caller)).toEqual(byId)
})

test('a version that is not there, or of another process, is version_not_found', async () => {
  const { caller, process, one } = await twoVersions()
  expect(await refusal(alias(caller, process, 'a', 'three'))).toBe('version_not_found')
  expect(await refusal(alias(caller, process, 'a', '\0'))).toBe('version_not_found')
  const { id: other } = await catalog.process(caller)
  expect(await refusal(alias(caller, other, 'a', one))).toBe('version_not_found')
  expect(await refusal(alias(caller, process, 'a', ''))).toBe('/versionId')
})

test('a name follows the rules of tags and is unique in its process, also against tags', async () => {
  const { caller, process } = await twoVersions()
  await alias(caller, process, 'live', 'one')
  for (const name of ['', 'a b', 'x'.repeat(101), 'a\0', '0198a2c4-0000-7000-8000-000000000000', 'live', 'two'])
    expect(await refusal(alias(caller, process, name, 'one')), name).toBe('/name')
})

test('an alias moves, is renamed, or both; what is absent stays', async () => {
  const { caller, process, one, two } = await twoVersions()
  const { id: aliasId } = await alias(caller, process, 'live', 'one')
  const moved = await catalog.aliases.updateAlias({ process, aliasId, version: 'two' }, caller)
  expect(moved).toMatchObject({ id: aliasId, name: 'live', versionId: two, updatedBy: 'tester' })
  expect(moved.updatedAt).toBeDefined()
  const renamed = await catalog.aliases.updateAlias({ process, aliasId, name: 'stable' }, caller)
  expect(renamed).toMatchObject({ name: 'stable', versionId: two })
  const both = await catalog.aliases.updateAlias({ process, aliasId, name: 'live', version: one }, caller)
  expect(both).toMatchObject({ name: 'live', versionId: one })
})

test('an alias tells the versions that it led to before, the last first, each once, at most 32', async () => {
  const { caller, process, one, two } = await twoVersions()
  const { id: aliasId, previousVersionIds } = await alias(caller, process, 'live', 'one')
  expect(previousVersionIds).toEqual([])
  const before = async (change: { version?: string; name?: string }) =>
    (await catalog.aliases.updateAlias({ process, aliasId, ...change }, caller)).previousVersionIds
  expect(await before({ version: 'two' })).toEqual([one])
  expect(await before({ version: 'two', name: 'stable' })).toEqual([one])
  expect(await before({ version: 'one' })).toEqual([two, one])
  for (let count = 0; count < 33; count += 1) {
    await catalog.versions.publishVersion({ process, tag: `more-${count}` }, caller)
    await before({ version: `more-${count}` })
  }
  const kept = await before({ version: 'two' })
  expect(kept).toHaveLength(32)
  expect(kept).not.toContain(one)
})

test('an alias is not renamed to what is taken, nor moved to what is not there', async () => {
  const { caller, process } = await twoVersions()
  await alias(caller, process, 'live', 'one')
  const { id: aliasId } = await alias(caller, process, 'next', 'two')
  for (const name of ['live', 'one', 'a b', ''])
    expect(await refusal(catalog.aliases.updateAlias({ process, aliasId, name }, caller)), name).toBe('/name')
  expect(await refusal(catalog.aliases.updateAlias({ process, aliasId, version: 'none' }, caller))).toBe(
    'version_not_found',
  )
  expect((await catalog.aliases.updateAlias({ process, aliasId, name: 'next' }, caller)).name).toBe('next')
})

test('lists are newest first; a version narrows them, and one that is not there leaves nothing', async () => {
  const { caller, process, one } = await twoVersions()
  await alias(caller, process, 'a', 'one')
  await alias(caller, process, 'b', 'two')
  await alias(caller, process, 'c', 'one')
  const names = async (version: string) =>
    (await catalog.aliases.listAliases({ process, version }, caller)).aliases.map(({ name }) => name)
  expect(await names('')).toEqual(['c', 'b', 'a'])
  expect(await names('one')).toEqual(['c', 'a'])
  expect(await names(one)).toEqual(['c', 'a'])
  expect(await names('none')).toEqual([])
  expect(await names('\0')).toEqual([])
  const paged = await catalog.aliases.listAliases({ process, page: { page: 1, limit: 2 } }, caller)
  expect(paged.page).toMatchObject({ total: 3, hasNextPage: false })
})

test('a deleted alias is gone, and its name free', async () => {
  const { caller, process } = await twoVersions()
  const { id: aliasId } = await alias(caller, process, 'live', 'one')
  await catalog.aliases.deleteAlias({ process, aliasId }, caller)
  expect(await refusal(catalog.aliases.getAlias({ process, aliasId }, caller))).toBe('alias_not_found')
  expect(await refusal(catalog.aliases.deleteAlias({ process, aliasId }, caller))).toBe('alias_not_found')
  await alias(caller, process, 'live', 'two')
})

test('an alias is found in its own process and team only, by a well-formed id only', async () => {
  const { caller, process } = await twoVersions()
  const { id: aliasId } = await alias(caller, process, 'live', 'one')
  const { id: other } = await catalog.process(caller)
  expect(await refusal(catalog.aliases.getAlias({ process: other, aliasId }, caller))).toBe('alias_not_found')
  expect(await refusal(catalog.aliases.getAlias({ process, aliasId: 'live' }, caller))).toBe('alias_not_found')
  const otherTeam = await catalog.team()
  expect(await refusal(catalog.aliases.getAlias({ process, aliasId }, otherTeam))).toBe('process_not_found')
  expect(await refusal(catalog.aliases.deleteAlias({ process, aliasId }, otherTeam))).toBe('process_not_found')
})

async function twoVersions(): Promise<{ caller: CallContext; process: string; one: string; two: string }> {
  const caller = await catalog.team()
  const { id: process } = await catalog.process(caller)
  const { id: one } = await catalog.versions.publishVersion({ process, tag: 'one' }, caller)
  const { id: two } = await catalog.versions.publishVersion({ process, tag: 'two' }, caller)
  return { caller, process, one, two }
}

function alias(caller: CallContext, process: string, name: string, version: string) {
  return catalog.aliases.createAlias({ process, name, version }, caller)
}
