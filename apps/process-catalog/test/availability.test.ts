import { serviceContext, refusal } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CatalogUnderTest, startCatalog } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

test('calls before the start and after the end are unavailable, not lost in errors', async () => {
  const { principal } = await catalog.team()
  const other = new CatalogUnderTest(catalog.url)
  expect(await refusal(other.resolve(principal.team, 'x'))).toBe('unavailable')
  await other.part.start()
  expect(await other.part.ready()).toEqual([{ name: 'database', ok: true }])
  expect(await refusal(other.resolve(principal.team, 'x'))).toBe('process_not_found')
  await other.part.stop(1000)
  await other.part.stop(1000)
  expect(await refusal(other.resolve(principal.team, 'x'))).toBe('unavailable')
  expect(await other.part.ready()).toMatchObject([{ name: 'database', ok: false }])
})

test('a stop lets the calls that are being answered end', async () => {
  const caller = await catalog.team()
  const stopped = new CatalogUnderTest(catalog.url)
  await stopped.part.start()
  const calls = Array.from({ length: 10 }, (_, n) =>
    stopped.process(caller, { name: `n${n}`, webhookUsername: 'u', webhookPassword: 'p' }),
  )
  const [made] = await Promise.all([Promise.all(calls), stopped.part.stop(20_000)])
  expect(made.map(({ name }) => name)).toContain('n9')
})

test('connections that the database cut are made anew', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller)
  const { revision } = await catalog.spec(caller, id)
  await catalog.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  )
  const settled = await Promise.allSettled([catalog.spec(caller, id), catalog.process(caller)])
  for (const result of settled)
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ kind: 'unavailable', retryAfterS: 1 })
  expect((await catalog.spec(caller, id)).processId).toBe(id)
  expect((await catalog.resolve(caller.principal.team, id, '', revision)).outcome.case).toBeDefined()
})

test('a database that is not there when it starts is waited for until it is stopped', async () => {
  const away = new CatalogUnderTest('postgres://nobody@127.0.0.1:1/none')
  const started = refusal(away.part.start())
  const keys = away.tokens.listSigningKeys({}, serviceContext('gateway'))
  expect(await refusal(keys)).toBe('unavailable')
  await away.part.stop(1000)
  expect(await started).toBe('unavailable')
})
