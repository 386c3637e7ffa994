import { unavailable } from '@automation/errors'
import { until } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { CatalogUnderTest, refused, startCatalog } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())
afterEach(() => (catalog.execution.failure = undefined))

test('a deleted process is gone with its versions and aliases, its executions are deleted, its slug is free', async () => {
  const { caller, id, slug } = await published()
  await catalog.processes.deleteProcess({ identifier: slug }, caller)
  expect(catalog.execution.deleted).toContain(id)
  expect(await refused(catalog.processes.getProcess({ identifier: id }, caller))).toBe('process_not_found')
  expect(await refused(catalog.versions.listVersions({ process: id }, caller))).toBe('process_not_found')
  expect(await refused(catalog.resolve(caller.principal.team, id))).toBe('process_not_found')
  expect(await remains(id)).toBe(0)
  expect((await catalog.process(caller, { slug })).id).not.toBe(id)
})

test('deleting what is not there, or is deleted already, is process_not_found', async () => {
  const { caller, id } = await published()
  await catalog.processes.deleteProcess({ identifier: id }, caller)
  expect(await refused(catalog.processes.deleteProcess({ identifier: id }, caller))).toBe('process_not_found')
  const { id: foreign } = await catalog.process(await catalog.team())
  expect(await refused(catalog.processes.deleteProcess({ identifier: foreign }, caller))).toBe('process_not_found')
})

test('while execution is away the caller is told to try again, and the deletion is finished when it is back', async () => {
  const { caller, id, slug } = await published()
  catalog.execution.failure = unavailable('away')
  expect(await refused(catalog.processes.deleteProcess({ identifier: id }, caller))).toBe('unavailable')
  expect(await refused(catalog.processes.getProcess({ identifier: id }, caller))).toBe('process_not_found')
  expect((await catalog.process(caller, { slug })).slug).toBe(slug)
  expect(await remains(id)).toBeGreaterThan(0)
  catalog.execution.failure = undefined
  await until(async () => (await remains(id)) === 0, { what: 'the rest of the process to go' })
  expect(catalog.execution.deleted).toContain(id)
})

test('a deletion that a crash cut off is finished by the next one that starts', async () => {
  const { caller, id } = await published()
  catalog.execution.failure = unavailable('away')
  expect(await refused(catalog.processes.deleteProcess({ identifier: id }, caller))).toBe('unavailable')
  const next = new CatalogUnderTest(catalog.url)
  await next.part.start()
  try {
    await until(async () => (await remains(id)) === 0)
    expect(next.execution.deleted).toContain(id)
  } finally {
    await next.part.stop(1000)
  }
})

test('a version published at the same time is refused or goes with the process', async () => {
  const { caller, id } = await published()
  await Promise.allSettled([
    catalog.processes.deleteProcess({ identifier: id }, caller),
    ...Array.from({ length: 5 }, (_, n) => catalog.versions.publishVersion({ process: id, tag: `t${n}` }, caller)),
  ])
  expect(await remains(id)).toBe(0)
})

async function published() {
  const caller = await catalog.team()
  const { id, slug } = await catalog.process(caller, { name: 'to-delete' })
  await catalog.versions.publishVersion({ process: id, tag: 'v1' }, caller)
  await catalog.aliases.createAlias({ process: id, name: 'live', version: 'v1' }, caller)
  return { caller, id, slug }
}

async function remains(id: string): Promise<number> {
  const [row] = await catalog.sql<{ count: number }>(
    `SELECT (SELECT count(*) FROM processes WHERE id = $1) + (SELECT count(*) FROM versions WHERE process_id = $1)
       + (SELECT count(*) FROM aliases WHERE process_id = $1) + (SELECT count(*) FROM tombstones WHERE process_id = $1)
       AS count`,
    [id],
  )
  return Number(row?.count)
}
