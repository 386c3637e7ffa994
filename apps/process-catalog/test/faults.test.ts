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
      '/webhook/password',
      '/webhook/username',
    ],
  ])
})

/** The code and the paths of what is refused. */
async function refused(work: Promise<unknown>) {
  const { code, fields } = (await work.catch((error: unknown) => error)) as Failure
  return [code, fields.map(({ path }) => path).toSorted()]
}

const noSchema = '{"type":"object","properties":{"a":{"type":"text"}}}'
const schemaPath = '/parametersSchema/properties/a/type'

test('a schema that is none is told with the other fields, and a name that is missing, too', async () => {
  const caller = await catalog.team()
  const { processes, versions } = catalog
  const values = { slug: 'No Slug', parametersSchema: noSchema }
  const everything = ['invalid_input', ['/name', schemaPath, '/slug']]
  expect(await refused(processes.createProcess({ values }, caller))).toEqual(everything)
  const { id } = await catalog.process(caller, { name: 'sound' })
  const change = { identifier: id, values, mask: { paths: ['slug', 'parameters_schema'] } }
  expect(await refused(processes.updateProcess(change, caller))).toEqual(['invalid_input', [schemaPath, '/slug']])
  const version = { process: id, tag: 'no tag', parametersSchema: noSchema }
  expect(await refused(versions.publishVersion(version, caller))).toEqual(['invalid_input', [schemaPath, '/tag']])
})

test('all entries of a manifest that are wrong are told at once', async () => {
  const caller = await catalog.team()
  const dependencies = { a: 'file:a', b: '1.0.0', c: 'ssh://c', 'no name': '1.0.0' }
  const paths = ['/manifest/dependencies/a', '/manifest/dependencies/c', '/manifest/dependencies/no name']
  expect(await refused(catalog.process(caller, { name: 'packed', dependencies }))).toEqual(['invalid_input', paths])
})

test('all fields of a team that are wrong are told at once', async () => {
  const caller = await catalog.team()
  const values = { name: long, zoneId: 'Mars', allowedAddresses: ['nowhere'] }
  const mask = { paths: ['name', 'zone_id', 'allowed_addresses'] }
  const paths = ['/allowedAddresses/0', '/name', '/zoneId']
  expect(await refused(catalog.teams.updateTeam({ values, mask }, caller))).toEqual(['invalid_input', paths])
})
