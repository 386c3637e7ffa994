import { Language } from '@automation/contract/common/v1/language'
import type { CallContext } from '@automation/rpc'
import { refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

describe('publishing', () => {
  test('a version is the process as it is now, and stays so when the process changes', async () => {
    const { caller, id } = await newProcess({ sourceCode: 'return 1', readme: 'r', parametersSchema: '{}' })
    const version = await publish(caller, id, '1.0.0')
    await catalog.processes.updateProcess(
      { identifier: id, values: { sourceCode: 'return 2' }, mask: { paths: ['source_code'] } },
      caller,
    )
    const read = await catalog.versions.getVersion({ process: id, version: '1.0.0' }, caller)
    expect(read).toEqual(version)
    const { sourceCode: _, ...others } = read
    const look = { process: id, version: '1.0.0', withoutSource: true }
    expect(await catalog.versions.getVersion(look, caller)).toEqual(others)
    expect(read).toMatchObject({
      tag: '1.0.0',
      language: Language.PYTHON,
      sourceCode: 'return 1',
      readme: 'r',
      parametersSchema: '{}',
      dependencies: { ms: '1' },
      createdBy: 'tester',
    })
  })

  test('what is given goes into the version and not into the process', async () => {
    const { caller, id } = await newProcess({ sourceCode: 'return 1' })
    const given = { sourceCode: 'return 3', readme: 'new', parametersSchema: '{"type":"object"}', comment: 'why' }
    expect(await catalog.versions.publishVersion({ process: id, tag: 'v3', ...given }, caller)).toMatchObject(given)
    const process = await catalog.processes.getProcess({ identifier: id }, caller)
    expect(process).toMatchObject({ sourceCode: 'return 1' })
    expect(process).not.toHaveProperty('readme')
  })

  test('a tag is 1 to 100 letters, digits, dots, underscores and hyphens, and not . or .. or the form of an id', async () => {
    const { caller, id } = await newProcess()
    const uuid = '0198A2C4-0000-7000-8000-000000000000'
    for (const tag of ['', '.', '..', 'a b', 'a/b', 'ä', 'x'.repeat(101), 'a\n', 'a\0', uuid])
      expect(await refusal(publish(caller, id, tag)), tag).toBe('/tag')
    for (const tag of ['A', '1', '...', '.a', '-_-', '__proto__', 'constructor', 'x'.repeat(100)])
      expect((await publish(caller, id, tag)).tag).toBe(tag)
  })

  test('a tag is unique in its process, also among those published at once', async () => {
    const { caller, id } = await newProcess()
    const tries = await Promise.allSettled(Array.from({ length: 5 }, () => publish(caller, id, 'same')))
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await refusal(publish(caller, id, 'same'))).toBe('/tag')
    const { id: other } = await catalog.process(caller)
    expect((await publish(caller, other, 'same')).tag).toBe('same')
  })

  test('the name of an alias is no tag', async () => {
    const { caller, id } = await newProcess()
    await publish(caller, id, 'one')
    await catalog.aliases.createAlias({ process: id, name: 'live', version: 'one' }, caller)
    expect(await refusal(publish(caller, id, 'live'))).toBe('/tag')
  })

  test('NUL characters are refused with the path of the field', async () => {
    const { caller, id } = await newProcess()
    for (const field of ['comment', 'sourceCode', 'parametersSchema', 'readme'])
      expect(
        await refusal(catalog.versions.publishVersion({ process: id, tag: 'n', [field]: '\0' }, caller)),
        field,
      ).toBe(`/${field}`)
  })
})

describe('reading', () => {
  test('a version is found by its id and by its tag, in its own process and team only', async () => {
    const { caller, id } = await newProcess()
    const version = await publish(caller, id, 'v')
    expect(await catalog.versions.getVersion({ process: id, version: version.id }, caller)).toEqual(version)
    const { id: other } = await catalog.process(caller)
    expect(await refusal(catalog.versions.getVersion({ process: other, version: version.id }, caller))).toBe(
      'version_not_found',
    )
    expect(await refusal(catalog.versions.getVersion({ process: id, version: '\0' }, caller))).toBe('version_not_found')
    const otherTeam = await catalog.team()
    expect(await refusal(catalog.versions.getVersion({ process: id, version: version.id }, otherTeam))).toBe(
      'process_not_found',
    )
  })

  test('lists are newest first and leave large sources out', async () => {
    const { caller, id } = await newProcess({ sourceCode: 'x'.repeat(70_000) })
    await publish(caller, id, 'a')
    await catalog.versions.publishVersion({ process: id, tag: 'b', sourceCode: 'small' }, caller)
    const list = await catalog.versions.listVersions({ process: id, page: { page: 0, limit: 1 } }, caller)
    expect(list.versions.map(({ tag }) => tag)).toEqual(['b'])
    expect(list.page).toMatchObject({ total: 2, hasNextPage: true })
    const { versions } = await catalog.versions.listVersions({ process: id }, caller)
    expect(versions.map(({ sourceCode }) => sourceCode)).toEqual(['small', undefined])
    expect((await catalog.versions.getVersion({ process: id, version: 'a' }, caller)).sourceCode).toHaveLength(70_000)
  })
})

describe('deleting', () => {
  test('a version that an alias points to stays, and the refusal names the alias', async () => {
    const { caller, id } = await newProcess()
    const version = await publish(caller, id, 'v1')
    const alias = await catalog.aliases.createAlias({ process: id, name: 'live', version: 'v1' }, caller)
    const deletion = catalog.versions.deleteVersion({ process: id, version: version.id }, caller)
    await expect(deletion).rejects.toMatchObject({ kind: 'invalid_argument', message: expect.stringContaining('live') })
    await catalog.aliases.deleteAlias({ process: id, aliasId: alias.id }, caller)
    await catalog.versions.deleteVersion({ process: id, version: 'v1' }, caller)
    expect(await refusal(catalog.versions.getVersion({ process: id, version: version.id }, caller))).toBe(
      'version_not_found',
    )
  })

  test('the tag of a deleted version may be used again', async () => {
    const { caller, id } = await newProcess()
    const first = await publish(caller, id, 'v1')
    await catalog.versions.deleteVersion({ process: id, version: 'v1' }, caller)
    expect((await publish(caller, id, 'v1')).id).not.toBe(first.id)
  })

  test('an alias made at the same time never points to a version that is gone', async () => {
    const { caller, id } = await newProcess()
    await publish(caller, id, 'v')
    const [deleted, made] = await Promise.allSettled([
      catalog.versions.deleteVersion({ process: id, version: 'v' }, caller),
      catalog.aliases.createAlias({ process: id, name: 'live', version: 'v' }, caller),
    ])
    expect([deleted.status, made.status].toSorted()).toEqual(['fulfilled', 'rejected'])
  })
})

async function newProcess(values: object = {}): Promise<{ caller: CallContext; id: string }> {
  const caller = await catalog.team()
  const process = await catalog.process(caller, { language: Language.PYTHON, dependencies: { ms: '1' }, ...values })
  return { caller, id: process.id }
}

function publish(caller: CallContext, process: string, tag: string) {
  return catalog.versions.publishVersion({ process, tag }, caller)
}
