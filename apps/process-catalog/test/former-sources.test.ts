import { setTimeout as pause } from 'node:timers/promises'
import { ModuleService } from '@automation/contract/catalog/v1/module'
import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import { Language } from '@automation/contract/common/v1/language'
import { serviceContext, until } from '@automation/testing'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quickUpkeep, startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog({ upkeep: { ...quickUpkeep, keysEveryMs: 50 } })))
afterAll(() => stop())

type Caller = Awaited<ReturnType<CatalogUnderTest['team']>>

const edit = (caller: Caller, identifier: string, sourceCode: string) =>
  catalog.processes.updateProcess({ identifier, values: { sourceCode }, mask: { paths: ['source_code'] } }, caller)

/** What a run had at this moment. */
async function at(caller: Caller, identifier: string, moment: Date, tag = ''): Promise<RunSpec> {
  const request = { team: caller.principal.team, identifier, tag, asOf: timestampFromDate(moment) }
  const { outcome } = await catalog.resolver.resolveRun(request, serviceContext('execution'))
  return outcome.value as RunSpec
}

/** A moment that is apart from what was before and what comes after it, in the database's milliseconds. */
async function now(): Promise<Date> {
  await pause(2)
  const moment = new Date()
  await pause(2)
  return moment
}

const count = async (ownerId: string) =>
  (await catalog.sql('SELECT 1 FROM former_sources WHERE owner_id = $1', [ownerId])).length

test('the source of a process and of its modules is found as it was at a moment', async () => {
  const caller = await catalog.team()
  const modules = catalog.client(ModuleService)
  const module = await modules.createModule(
    { name: 'helpers', sourceCode: 'exports.a = 1', language: Language.JAVASCRIPT },
    caller,
  )
  const { id } = await catalog.process(caller, { sourceCode: "return require('helpers').a" })
  const first = await now()
  await modules.updateModule({ id: module.id, sourceCode: 'exports.a = 2' }, caller)
  const second = await now()
  await edit(caller, id, 'return 3')
  const third = await now()
  await catalog.processes.updateProcess(
    { identifier: id, values: { name: 'Other' }, mask: { paths: ['name'] } },
    caller,
  )
  const seen = async (moment: Date) => {
    const { sourceCode, modules: found } = await at(caller, id, moment)
    return [sourceCode, ...found.map((one) => one.sourceCode)]
  }
  expect(await seen(first)).toEqual(["return require('helpers').a", 'exports.a = 1'])
  expect(await seen(second)).toEqual(["return require('helpers').a", 'exports.a = 2'])
  expect(await seen(third)).toEqual(['return 3'])
  expect(await catalog.spec(caller, id)).toMatchObject({ sourceCode: 'return 3' })
  expect([await count(id), await count(module.id)]).toEqual([1, 1])
})

test('a version has its own source at any moment, with the modules of then', async () => {
  const caller = await catalog.team()
  const modules = catalog.client(ModuleService)
  const language = Language.JAVASCRIPT
  const module = await modules.createModule({ name: 'helpers', sourceCode: 'exports.a = 1', language }, caller)
  const { id } = await catalog.process(caller, { sourceCode: "return require('helpers').a" })
  const version = await catalog.versions.publishVersion({ process: id, tag: 'v1' }, caller)
  const moment = await now()
  await edit(caller, id, 'return 3')
  await modules.updateModule({ id: module.id, sourceCode: 'exports.a = 2' }, caller)
  expect(await at(caller, id, moment, version.id)).toMatchObject({
    sourceCode: "return require('helpers').a",
    modules: [{ sourceCode: 'exports.a = 1' }],
  })
})

test('of a process the last hundred are kept, as long as executions that can have run them, and they go with it', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller, { sourceCode: 'return 0' })
  for (let number = 1; number <= 102; number += 1) await edit(caller, id, `return ${number}`)
  expect(await at(caller, id, new Date(0))).toMatchObject({ sourceCode: 'return 2' })
  expect(await count(id)).toBe(100)

  const old = `UPDATE former_sources SET until = now() - interval '20 days' WHERE owner_id = $1 AND source_code < 'return 5'`
  await catalog.sql(old, [id])
  catalog.execution.oldest = new Date(Date.now() - 10 * 86_400_000)
  await until(async () => (await count(id)) < 100)
  expect(
    await catalog.sql(`SELECT 1 FROM former_sources WHERE owner_id = $1 AND source_code = 'return 99'`, [id]),
  ).toEqual([expect.anything()])

  await catalog.processes.deleteProcess({ identifier: id }, caller)
  await until(async () => (await count(id)) === 0)
})
