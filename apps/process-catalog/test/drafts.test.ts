import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import { SourceService } from '@automation/contract/catalog/v1/source'
import { Language } from '@automation/contract/common/v1/language'
import type { CallContext } from '@automation/rpc'
import { serviceContext, until, refusal } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quickUpkeep, startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'
import { manifestsOf, succeed } from './manifests.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
const config = { upkeep: { ...quickUpkeep, keysEveryMs: 50 }, limits: { definitions: 100, versions: 3 } }
beforeAll(async () => ({ catalog, stop } = await startCatalog(config)))
afterAll(() => stop())

const { running } = manifestsOf(() => catalog)

const keep = (caller: CallContext, identifier: string, sourceCode: string, more: object = {}) =>
  catalog.client(SourceService).keepDraft({ identifier, sourceCode, ...more }, caller)

/** What a run of a draft sees. */
async function seen({ principal: { team } }: CallContext, processId: string, draftId: string): Promise<RunSpec> {
  const request = { team, identifier: processId, tag: draftId, deleted: true }
  const { outcome } = await catalog.resolver.resolveRun(request, serviceContext('execution'))
  return outcome.value as RunSpec
}

test('a draft is kept once, and found by its id for runs of its process, and by nothing else', async () => {
  const caller = await catalog.team()
  const schema = '{"type":"object"}'
  const { id, slug } = await catalog.process(caller, { sourceCode: 'return 1', parametersSchema: schema })
  const { draftId, processId } = await keep(caller, slug, 'return 2')
  expect(processId).toBe(id)
  expect((await keep(caller, id, 'return 2')).draftId).toBe(draftId)
  expect((await keep(caller, id, 'return 2', { parametersSchema: '{}' })).draftId).not.toBe(draftId)
  expect(await seen(caller, id, draftId)).toMatchObject({
    sourceCode: 'return 2',
    unenforcedSchema: schema,
    processId: id,
  })
  expect(await refusal(catalog.resolve(caller.principal.team, id, draftId))).toBe('version_not_found')
  expect(await refusal(catalog.versions.getVersion({ process: id, version: draftId }, caller))).toBe(
    'version_not_found',
  )
  const other = await catalog.team()
  expect(await refusal(seen(other, id, draftId))).toBe('process_not_found')
  expect(await refusal(keep(other, slug, 'return 2'))).toBe('process_not_found')
  expect(await catalog.spec(caller, id)).toMatchObject({ sourceCode: 'return 1' })
})

test('a draft of no process has its own language, and is its own team alone', async () => {
  const caller = await catalog.team()
  const { draftId, processId } = await keep(caller, '', 'import os', { language: Language.PYTHON })
  const spec = await seen(caller, processId, draftId)
  expect(spec).toMatchObject({ sourceCode: 'import os', language: Language.PYTHON, processSlug: 'draft', processId })
  expect(await refusal(seen(await catalog.team(), processId, draftId))).toBe('process_not_found')
  expect(await refusal(catalog.resolve(caller.principal.team, processId, draftId))).toBe('version_not_found')
  expect(await refusal(catalog.resolve(caller.principal.team, processId))).toBe('process_not_found')
})

test('packages of its own are installed once for all drafts that name the same, and its runs wait for them', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller)
  const packages = { dependencies: { zod: '^4.0.0' } }
  const [first, second] = [await keep(caller, id, 'return 1', packages), await keep(caller, '', 'return 2', packages)]
  for (const { processId, draftId } of [first, second])
    expect(await seen(caller, processId, draftId)).toMatchObject({ awaitedDependencies: 'zod' })
  expect(await catalog.spec(caller, id)).toMatchObject({ awaitedDependencies: '' })
  const install = await running(caller, packages.dependencies)
  Object.assign(install, succeed)
  await until(async () => (await seen(caller, first.processId, first.draftId)).awaitedDependencies === '')
  for (const { processId, draftId } of [first, second])
    expect((await seen(caller, processId, draftId)).dependencies).toMatchObject({
      key: install.installId,
      packages: packages.dependencies,
    })
  expect((await catalog.spec(caller, id)).dependencies).toBeUndefined()
})

test('a process has at most as many drafts as versions: those of today stay, as runs may wait for them; others go', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller)
  const ids: string[] = []
  for (let nth = 0; nth < 3; nth += 1) ids.push((await keep(caller, id, `return ${nth}`)).draftId)
  const kept = async () => {
    const rows = await catalog.sql<{ id: string }>('SELECT id FROM drafts WHERE process_id = $1 ORDER BY needed_at', [
      id,
    ])
    return rows.map((row) => row.id)
  }
  const age = (draft: string | undefined, days: number) =>
    catalog.sql('UPDATE drafts SET needed_at = now() - make_interval(days => $2) WHERE id = $1', [draft, days])
  catalog.execution.oldest = new Date(Date.now() - 30 * 86_400_000)
  expect(await refusal(keep(caller, id, 'return 3'))).toBe('limit_reached')
  expect((await keep(caller, id, 'return 0')).draftId).toBe(ids[0])
  await age(ids[1], 2)
  ids.push((await keep(caller, id, 'return 3')).draftId)
  expect(await kept()).toEqual([ids[2], ids[0], ids[3]])
  await age(ids[2], 90)
  await until(async () => (await kept()).length === 2)
  await catalog.processes.deleteProcess({ identifier: id }, caller)
  expect(await kept()).toEqual([])
})

test('a draft whose packages are there already changes nothing that other runs see', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller)
  const packages = { dependencies: { zod: '^4.0.0' } }
  await keep(caller, id, 'return 1', packages)
  Object.assign(await running(caller, packages.dependencies), succeed)
  const first = await keep(caller, id, 'return 1', packages)
  await until(async () => (await seen(caller, id, first.draftId)).awaitedDependencies === '')
  const { revision } = await catalog.spec(caller, id)
  await keep(caller, id, 'return 2', packages)
  await keep(caller, id, 'return 3')
  expect((await catalog.spec(caller, id)).revision).toBe(revision)
})
