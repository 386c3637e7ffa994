import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import { ModuleService } from '@automation/contract/catalog/v1/module'
import { Language } from '@automation/contract/common/v1/language'
import { serviceContext, until, refusal } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quickUpkeep, startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog({ upkeep: { ...quickUpkeep, keysEveryMs: 50 } })))
afterAll(() => stop())

/** A process with a version that was deleted. */
async function withDeleted(tag = 'v1') {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller, { language: Language.PYTHON, sourceCode: 'return 1' })
  const version = await catalog.versions.publishVersion({ process: id, tag, parametersSchema: '{}' }, caller)
  await catalog.processes.updateProcess(
    { identifier: id, values: { sourceCode: 'return 2' }, mask: { paths: ['source_code'] } },
    caller,
  )
  await catalog.versions.deleteVersion({ process: id, version: tag }, caller)
  return { caller, team: caller.principal.team, id, versionId: version.id }
}

const again = (team: string, identifier: string, tag: string) =>
  catalog.resolver.resolveRun({ team, identifier, tag, deleted: true }, serviceContext('execution'))
const kept = async (id: string) => (await catalog.sql('SELECT 1 FROM deleted_versions WHERE id = $1', [id])).length

test('a deleted version is found by its id for a run that is repeated, and by nothing else', async () => {
  const { caller, team, id, versionId } = await withDeleted()
  const { outcome } = await again(team, id, versionId)
  expect(outcome.value).toMatchObject({ versionId, sourceCode: 'return 1', language: Language.PYTHON, processId: id })
  for (const tag of [versionId, 'v1']) {
    expect(await refusal(catalog.resolve(team, id, tag))).toBe('version_not_found')
    expect(await refusal(catalog.versions.getVersion({ process: id, version: tag }, caller))).toBe('version_not_found')
    expect(await refusal(catalog.aliases.createAlias({ process: id, name: 'a', version: tag }, caller))).toBe(
      'version_not_found',
    )
  }
  expect(await refusal(again(team, id, 'v1'))).toBe('version_not_found')
  expect((await catalog.versions.listVersions({ process: id }, caller)).versions).toEqual([])
  const next = await catalog.versions.publishVersion({ process: id, tag: 'v1' }, caller)
  expect(await catalog.spec(caller, id, 'v1')).toMatchObject({ versionId: next.id, sourceCode: 'return 2' })
  expect((await again(team, id, versionId)).outcome.value).toMatchObject({ sourceCode: 'return 1' })
})

test('who holds a deleted version is told that it is unchanged, until something is that its runs see', async () => {
  const { caller, team, id, versionId } = await withDeleted()
  const ask = async (knownRevision: bigint) => {
    const request = { team, identifier: id, tag: versionId, deleted: true, knownRevision }
    return (await catalog.resolver.resolveRun(request, serviceContext('execution'))).outcome
  }
  const first = await ask(0n)
  const { revision } = first.value as RunSpec
  expect((await ask(revision)).case).toBe('unchanged')
  await catalog.process(caller)
  expect((await ask(revision)).value).toMatchObject({ versionId, sourceCode: 'return 1' })
})

test('a deleted version is of its own process and team', async () => {
  const [mine, other] = [await withDeleted(), await withDeleted()]
  for (const id of [mine.id, other.id])
    expect(await refusal(again(other.team, id, mine.versionId))).toMatch(/^(process|version)_not_found$/)
  const { id } = await catalog.process(mine.caller)
  expect(await refusal(again(mine.team, id, mine.versionId))).toBe('version_not_found')
})

test('what is left of deleted versions goes with their process', async () => {
  const { caller, team, id, versionId } = await withDeleted()
  await catalog.processes.deleteProcess({ identifier: id }, caller)
  expect(await refusal(again(team, id, versionId))).toBe('process_not_found')
  await until(async () => (await kept(versionId)) === 0)
})

test('a deleted version is kept as long as executions that can name it', async () => {
  const { team, id, versionId } = await withDeleted()
  const unneeded = await withDeleted()
  const { versionId: left } = await withDeleted()
  await catalog.sql(`UPDATE deleted_versions SET needed_at = now() - interval '20 days' WHERE id <> $1`, [left])
  await again(team, id, versionId)
  catalog.execution.oldest = new Date(Date.now() - 19.5 * 86_400_000)
  const asked = catalog.execution.askedForOldest
  await until(() => catalog.execution.askedForOldest > asked + 2)
  expect([await kept(unneeded.versionId), await kept(versionId), await kept(left)]).toEqual([1, 1, 1])
  catalog.execution.oldest = new Date(Date.now() - 5 * 86_400_000)
  await until(async () => (await kept(unneeded.versionId)) === 0)
  expect([await kept(versionId), await kept(left)]).toEqual([1, 1])
})

test('of modules nothing is left, for no run is one of theirs', async () => {
  const caller = await catalog.team()
  const modules = catalog.client(ModuleService)
  const { id } = await modules.createModule(
    { name: 'helpers', sourceCode: 'exports.a = 1', language: Language.JAVASCRIPT },
    caller,
  )
  const version = await catalog.versions.publishVersion({ module: id, tag: 'v1' }, caller)
  await catalog.versions.deleteVersion({ module: id, version: 'v1' }, caller)
  expect(await kept(version.id)).toBe(0)
})
