import { Failure } from '@automation/errors'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const long = 'x'.repeat(300)

test('all fields of a process that are wrong are told at once', async () => {
  const caller = await catalog.team()
  const values = {
    name: long,
    slug: 'No Slug',
    tags: ['', 'fine', long],
    webhookUsername: 'a:b',
    webhookAllowedAddresses: ['10.0.0.0/8', '10.0.0.0/33', '::/0', '::/129', 'fe80::1%eth0', '10.0.0.0/', '1.2.3', ''],
    dependencies: { a: 'x'.repeat(10_000), 'b/c': 'x'.repeat(10_000) },
  }
  const refusal = await catalog.process(caller, values).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(Failure)
  const { code, fields } = refusal as Failure
  expect([code, fields.map(({ path }) => path).toSorted()]).toEqual([
    'invalid_input',
    [
      '/manifest/dependencies/a',
      '/manifest/dependencies/b~1c',
      '/name',
      '/slug',
      '/tags/0',
      '/tags/2',
      '/webhook/allowedAddresses/1',
      '/webhook/allowedAddresses/3',
      '/webhook/allowedAddresses/4',
      '/webhook/allowedAddresses/5',
      '/webhook/allowedAddresses/6',
      '/webhook/allowedAddresses/7',
      '/webhook/username',
    ],
  ])
})
