import { userContext, refusal } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

test('lists are newest first, in pages, and say whether there is more', async () => {
  const caller = await catalog.team()
  for (const name of ['one', 'two', 'three']) await catalog.process(caller, { name })
  const first = await catalog.processes.listProcesses({ page: { page: 0, limit: 2 } }, caller)
  expect(first.processes.map(({ name }) => name)).toEqual(['three', 'two'])
  expect(first.page).toMatchObject({ total: 3, hasNextPage: true })
  const second = await catalog.processes.listProcesses({ page: { page: 1, limit: 2 } }, caller)
  expect(second.processes.map(({ name }) => name)).toEqual(['one'])
  expect(second.page).toMatchObject({ total: 3, hasNextPage: false })
  const beyond = await catalog.processes.listProcesses({ page: { page: 9, limit: 2 } }, caller)
  expect(beyond).toMatchObject({ processes: [], page: { total: 3, hasNextPage: false } })
})

test('without a page the first ten come', async () => {
  const caller = await catalog.team()
  for (let n = 0; n < 11; n++) await catalog.process(caller, { name: `p${n}` })
  const list = await catalog.processes.listProcesses({}, caller)
  expect(list.processes).toHaveLength(10)
  expect(list.page).toMatchObject({ total: 11, hasNextPage: true })
})

test('keywords are found in names and descriptions, whatever their case', async () => {
  const caller = await catalog.team()
  await catalog.process(caller, { name: 'Invoice mailer' })
  await catalog.process(caller, { name: 'other', description: 'sends INVOICES' })
  await catalog.process(caller, { name: 'unrelated', readme: 'invoice' })
  expect(await found(caller, { keywords: 'iNVoice' })).toEqual(['other', 'Invoice mailer'])
  expect(await found(caller, { keywords: 'E mAil' })).toEqual(['Invoice mailer'])
})

test('keywords mean themselves: percent signs, underscores and backslashes are no wildcards', async () => {
  const caller = await catalog.team()
  await catalog.process(caller, { name: '100% done' })
  await catalog.process(caller, { name: '100 done' })
  await catalog.process(caller, { name: 'a_b' })
  await catalog.process(caller, { name: 'axb' })
  await catalog.process(caller, { name: 'back\\slash' })
  expect(await found(caller, { keywords: '0%' })).toEqual(['100% done'])
  expect(await found(caller, { keywords: 'a_b' })).toEqual(['a_b'])
  expect(await found(caller, { keywords: '\\' })).toEqual(['back\\slash'])
  expect(await found(caller, { keywords: '\\%' })).toEqual([])
})

test('a process with any of the tags is found, and tags go together with keywords', async () => {
  const caller = await catalog.team()
  await catalog.process(caller, { name: 'ab', tags: ['a', 'b'] })
  await catalog.process(caller, { name: 'bc', tags: ['b', 'c'] })
  await catalog.process(caller, { name: 'none' })
  expect(await found(caller, { tags: ['a', 'c'] })).toEqual(['bc', 'ab'])
  expect(await found(caller, { tags: ['a'] })).toEqual(['ab'])
  expect(await found(caller, { tags: ['A', "x'"] })).toEqual([])
  expect(await found(caller, { tags: ['b'], keywords: 'bc' })).toEqual(['bc'])
})

test('sources above 64 KiB are left out of lists, smaller ones are in', async () => {
  const caller = await catalog.team()
  const limit = 64 * 1024
  await catalog.process(caller, { name: 'at', sourceCode: 'é'.repeat(limit / 2) })
  await catalog.process(caller, { name: 'empty' })
  const { id } = await catalog.process(caller, { name: 'above', sourceCode: 'é'.repeat(limit / 2) + '1' })
  const { processes } = await catalog.processes.listProcesses({}, caller)
  expect(processes.map(({ sourceCode }) => sourceCode?.length)).toEqual([undefined, 0, limit / 2])
  expect(Buffer.byteLength((await catalog.processes.getProcess({ identifier: id }, caller)).sourceCode ?? '')).toBe(
    limit + 1,
  )
})

test('the total is exact up to 10,000 and 10,001 beyond; a full page beyond it has a next one', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller)
  // Live streams of changes are no matter here, and noting each is most of what a copy costs.
  const copies = (count: number) =>
    catalog.withoutTriggers(
      'processes',
      `INSERT INTO processes SELECT (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'slug', gen_random_uuid()))).*
       FROM processes p, generate_series(1, $2::int) WHERE p.id = $1`,
      [id, count],
    )
  await copies(9_999)
  expect((await catalog.processes.listProcesses({ page: { page: 0, limit: 1 } }, caller)).page?.total).toBe(10_000)
  await copies(10)
  const list = await catalog.processes.listProcesses({ page: { page: 10, limit: 1000 } }, caller)
  expect(list.processes).toHaveLength(10)
  expect(list.page).toMatchObject({ total: 10_001, hasNextPage: false })
  const full = await catalog.processes.listProcesses({ page: { page: 9, limit: 1000 } }, caller)
  expect(full.page).toMatchObject({ total: 10_001, hasNextPage: true })
})

test('a NUL character in a filter is refused', async () => {
  const caller = await catalog.team()
  expect(await refusal(catalog.processes.listProcesses({ keywords: 'a\0' }, caller))).toBe('/keywords')
  expect(await refusal(catalog.processes.listProcesses({ tags: ['\0'] }, caller))).toBe('/tags')
})

test('a list holds the processes of the team alone', async () => {
  await catalog.process(await catalog.team())
  expect(await found(await catalog.team(), {})).toEqual([])
})

test('the list of a team that does not exist is team_not_found', async () => {
  expect(await refusal(catalog.processes.listProcesses({}, userContext('nowhere')))).toBe('team_not_found')
})

async function found(caller: ReturnType<typeof userContext>, filter: { keywords?: string; tags?: string[] }) {
  const { processes } = await catalog.processes.listProcesses(filter, caller)
  return processes.map(({ name }) => name)
}
