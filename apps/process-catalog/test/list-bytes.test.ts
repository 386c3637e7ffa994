import { ModuleService } from '@automation/contract/catalog/v1/module'
import { ListProcessesResponseSchema } from '@automation/contract/catalog/v1/process'
import { ListVersionsResponseSchema } from '@automation/contract/catalog/v1/version'
import { create, toBinary } from '@bufbuild/protobuf'
import type { CallContext } from '@automation/rpc'
import { until } from '@automation/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const all = { page: { page: 0, limit: 1000 } }
const large = 'x'.repeat(70_000)
const schema = JSON.stringify({ description: large })
const most = 10 * 1024 * 1024

describe('a list leaves out what is above 64 KiB', () => {
  test('of processes, and says what; a single read has all of it', async () => {
    const caller = await catalog.team()
    const values = {
      sourceCode: large,
      readme: large,
      parametersSchema: schema,
      description: 'é'.repeat(60_000),
      tags: Array.from({ length: 100 }, (_, n) => `${n}${'é'.repeat(250)}`),
      dependencies: Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`${'p'.repeat(200)}${n}`, '1.0.0'])),
    }
    const { id } = await catalog.process(caller, { name: 'large', ...values })
    await catalog.process(caller, { name: 'small', readme: 'r', tags: ['t'], dependencies: { a: '1' } })
    const [small, left] = (await catalog.processes.listProcesses(all, caller)).processes
    expect(small).toMatchObject({ readme: 'r', tags: ['t'], dependencies: { a: '1' }, sourceCode: '', leftOut: [] })
    expect(small?.description).toBeUndefined()
    expect(left!.leftOut.toSorted()).toEqual(['description', 'manifest', 'parametersSchema', 'readme', 'sourceCode'])
    expect(left).toMatchObject({ id, name: 'large', dependencies: {} })
    expect([left!.readme, left!.description, left!.sourceCode, left!.parametersSchema]).toEqual(
      Array(4).fill(undefined),
    )
    expect(await catalog.processes.getProcess({ identifier: id }, caller)).toMatchObject({ ...values, leftOut: [] })
  })

  test('of versions and modules', async () => {
    const caller = await catalog.team()
    const { id: process } = await catalog.process(caller)
    const version = { tag: 'v1', sourceCode: large, readme: large, parametersSchema: schema, comment: 'short' }
    await catalog.versions.publishVersion({ process, ...version }, caller)
    const [listed] = (await catalog.versions.listVersions({ process, ...all }, caller)).versions
    expect(listed).toMatchObject({ tag: 'v1', comment: 'short' })
    expect(listed!.leftOut.toSorted()).toEqual(['parametersSchema', 'readme', 'sourceCode'])
    expect(await catalog.versions.getVersion({ process, version: 'v1' }, caller)).toMatchObject(version)
    await catalog.client(ModuleService).createModule({ name: 'a', sourceCode: large }, caller)
    const { modules } = await catalog.client(ModuleService).listModules({}, caller)
    expect(modules[0]!.sourceCode).toBeUndefined()
  })
})

describe('a page is bounded in bytes, has all its rows, and leaves out the largest texts first', () => {
  test('of versions', async () => {
    const caller = await catalog.team()
    const { id: process } = await catalog.process(caller)
    const text = 'x'.repeat(60_000)
    const version = { sourceCode: text, readme: 'y'.repeat(10_000), parametersSchema: '{}', comment: 'short' }
    await catalog.versions.publishVersion({ process, tag: 'v', ...version }, caller)
    await copy(caller, 'versions', 'tag', 299)
    const list = await catalog.versions.listVersions({ process, ...all }, caller)
    expect(list.page).toMatchObject({ total: 300, hasNextPage: false })
    expect(list.versions).toHaveLength(300)
    expect(list.versions[0]).toMatchObject({ readme: version.readme, comment: 'short', leftOut: ['sourceCode'] })
    expect(toBinary(ListVersionsResponseSchema, create(ListVersionsResponseSchema, list)).length).toBeLessThan(most)
    const ten = await catalog.versions.listVersions({ process }, caller)
    expect(ten.versions.every(({ leftOut, sourceCode }) => leftOut.length === 0 && sourceCode === text)).toBe(true)
  })

  test('of processes', async () => {
    const caller = await catalog.team()
    const tags = Array.from({ length: 100 }, (_, n) => `${n} ${'t'.repeat(250)}`)
    await catalog.process(caller, { readme: 'x'.repeat(60_000), description: 'd'.repeat(20_000), tags })
    await copy(caller, 'processes', 'slug', 499)
    const list = await catalog.processes.listProcesses(all, caller)
    expect(list.processes).toHaveLength(500)
    expect(toBinary(ListProcessesResponseSchema, create(ListProcessesResponseSchema, list)).length).toBeLessThan(most)
  })

  test('of variables; sensitive ones are masked as ever', async () => {
    const caller = await catalog.team()
    const value = 'v'.repeat(64 * 1024)
    await catalog.variables.createVariable({ key: 'secret', value, isSensitive: true }, caller)
    await catalog.variables.createVariable({ key: 'short', value: 'v' }, caller)
    await catalog.variables.createVariable({ key: 'large', value }, caller)
    const few = await catalog.variables.listVariables(all, caller)
    expect(few.variables.map((each) => each.value.length)).toEqual([value.length, 1, 6])
    await copy(caller, 'variables', 'key', 199, "AND key = 'large'")
    const { variables } = await catalog.variables.listVariables(all, caller)
    expect(variables).toHaveLength(202)
    expect(variables.filter(({ valueLeftOut }) => valueLeftOut)).toHaveLength(200)
    expect(variables.find(({ key }) => key === 'short')).toMatchObject({ value: 'v', valueLeftOut: false })
    expect(variables.find(({ key }) => key === 'secret')).toMatchObject({ value: '******', valueLeftOut: false })
  })
})

test('one team has no more than its share of the connections, for reads and for writes', async () => {
  const [busy, quiet] = [await catalog.team(), await catalog.team()]
  const { id: process } = await catalog.process(busy)
  const holder = new pg.Client({ connectionString: catalog.url, options: '-c search_path=catalog' })
  await holder.connect()
  await holder.query('BEGIN; LOCK TABLE versions')
  const waiting = [
    ...Array.from({ length: 12 }, () => catalog.versions.listVersions({ process }, busy)),
    ...Array.from({ length: 12 }, (_, n) => catalog.versions.publishVersion({ process, tag: `v${n}` }, busy)),
  ]
  const stuck = async () => (await catalog.sql('SELECT FROM pg_locks WHERE NOT granted')).length > 0
  await until(stuck, { what: 'the reads of one team wait' })
  expect((await catalog.processes.listProcesses({}, quiet)).processes).toEqual([])
  await catalog.process(quiet)
  await holder.query('COMMIT')
  await holder.end()
  await Promise.all(waiting)
})

/** Further rows like those that the caller's team has. */
async function copy(caller: CallContext, table: string, unique: string, count: number, where = ''): Promise<void> {
  await catalog.sql(
    `INSERT INTO ${table} SELECT (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), '${unique}', gen_random_uuid()))).*
     FROM ${table} t, generate_series(1, $2::int) WHERE t.team = $1 ${where}`,
    [caller.principal.team, count],
  )
}
