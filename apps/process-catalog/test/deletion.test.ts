import { ProcessService } from '@automation/contract/catalog/v1/process'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { unavailable } from '@automation/errors'
import { operatorContext, testDatabase, until, userContext, refusal } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { catalogSchema } from '../src/service.ts'
import { startCatalogProcess } from './catalog-process.ts'
import { CatalogUnderTest, quickUpkeep, startCatalog } from './catalog-under-test.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())
afterEach(() => {
  catalog.execution.failure = undefined
  catalog.execution.failsFor = undefined
  catalog.scheduler.failure = undefined
  catalog.scheduler.before = undefined
})

test('a deleted process is gone with its versions and aliases, its schedules and executions are deleted, its slug is free', async () => {
  const { caller, id, slug } = await published()
  await catalog.processes.deleteProcess({ identifier: slug }, caller)
  expect(catalog.execution.deleted).toContain(id)
  expect(schedulesDeleted(catalog, id)).toBe(true)
  expect(await refusal(catalog.processes.getProcess({ identifier: id }, caller))).toBe('process_not_found')
  expect(await refusal(catalog.versions.listVersions({ process: id }, caller))).toBe('process_not_found')
  expect(await refusal(catalog.resolve(caller.principal.team, id))).toBe('process_not_found')
  expect(await remains(id)).toBe(0)
  expect((await catalog.process(caller, { slug })).id).not.toBe(id)
})

test('deleting what is not there, or is deleted already, is process_not_found', async () => {
  const { caller, id } = await published()
  await catalog.processes.deleteProcess({ identifier: id }, caller)
  expect(await refusal(catalog.processes.deleteProcess({ identifier: id }, caller))).toBe('process_not_found')
  const { id: foreign } = await catalog.process(await catalog.team())
  expect(await refusal(catalog.processes.deleteProcess({ identifier: foreign }, caller))).toBe('process_not_found')
})

test('while execution is away the caller is told to try again, and the deletion is finished when it is back', async () => {
  const { caller, id, slug } = await published()
  catalog.execution.failure = unavailable('away')
  expect(await refusal(catalog.processes.deleteProcess({ identifier: id }, caller))).toBe('unavailable')
  expect(await refusal(catalog.processes.getProcess({ identifier: id }, caller))).toBe('process_not_found')
  expect((await catalog.process(caller, { slug })).slug).toBe(slug)
  expect(await remains(id)).toBeGreaterThan(0)
  catalog.execution.failure = undefined
  await until(async () => (await remains(id)) === 0, { what: 'the rest of the process to go' })
  expect(catalog.execution.deleted).toContain(id)
})

test('a deletion that a crash cut off is finished by the next one that starts', async () => {
  const { caller, id } = await published()
  catalog.execution.failure = unavailable('away')
  expect(await refusal(catalog.processes.deleteProcess({ identifier: id }, caller))).toBe('unavailable')
  const next = new CatalogUnderTest(catalog.url)
  await next.part.start()
  try {
    await until(async () => (await remains(id)) === 0)
    expect(next.execution.deleted).toContain(id)
  } finally {
    await next.part.stop(1000)
  }
})

test('deletions that can not go on, however many, hold up no others', async () => {
  const [stuck, { caller, id }] = [await catalog.team(), await published()]
  await catalog.sql(
    `INSERT INTO tombstones (process_id, team, created_at)
     SELECT gen_random_uuid(), $1, now() - interval '1 hour' FROM generate_series(1, 250)`,
    [stuck.principal.team],
  )
  catalog.execution.failure = unavailable('away')
  expect(await refusal(catalog.processes.deleteProcess({ identifier: id }, caller))).toBe('unavailable')
  catalog.execution.failsFor = stuck.principal.team
  await until(async () => (await remains(id)) === 0)
  catalog.execution.failure = undefined
  await until(async () => (await catalog.sql('SELECT FROM tombstones')).length === 0)
})

test('the schedules of a process go before its executions', async () => {
  const { caller, id } = await published()
  let before: string[] | undefined
  catalog.scheduler.before = async () => void (before ??= [...catalog.execution.deleted])
  await catalog.processes.deleteProcess({ identifier: id }, caller)
  expect(before).not.toContain(id)
})

test('while the scheduler is away or silent a deletion is answered, and the schedules go when it is back', async () => {
  const { catalog: own, stop: stopOwn } = await startCatalog({ upkeep: { ...quickUpkeep, deletionsAfterS: 1 } })
  try {
    const caller = await own.team()
    const { id: first } = await own.process(caller)
    const { id: second } = await own.process(caller)
    own.scheduler.failure = unavailable('away')
    await own.processes.deleteProcess({ identifier: first }, caller)
    own.scheduler.before = () => new Promise(() => undefined)
    const began = performance.now()
    await own.processes.deleteProcess({ identifier: second }, caller)
    expect(performance.now() - began).toBeLessThan(5000)
    expect(own.execution.deleted).toEqual(expect.arrayContaining([first, second]))
    expect(own.scheduler.heard).toEqual([])
    own.scheduler.before = undefined
    own.scheduler.failure = undefined
    await until(async () => (await own.sql('SELECT 1 FROM tombstones')).length === 0)
    expect([first, second].every((id) => schedulesDeleted(own, id))).toBe(true)
    // What is killed and hidden is not asked for again and again.
    expect(own.execution.deleted.filter((id) => id === first)).toEqual([first])
  } finally {
    await stopOwn()
  }
})

test.each(['delete-after-tombstone', 'delete-after-schedules'])(
  'a deletion that is cut off at %s is finished by the next start',
  async (point) => {
    const database = await testDatabase(catalogSchema)
    const cut = await startCatalogProcess(database.url, point)
    const next = new CatalogUnderTest(database.url)
    try {
      const caller = userContext('cut')
      await cut.network.client(TeamService).createTeam({ slug: 'cut' }, operatorContext())
      const processes = cut.network.client(ProcessService)
      const { id } = await processes.createProcess({ values: { name: 'cut' } }, caller)
      await expect(processes.deleteProcess({ identifier: id }, caller)).rejects.toMatchObject({ kind: 'unavailable' })
      await cut.gone
      await next.part.start()
      await until(async () => (await next.sql('SELECT 1 FROM tombstones')).length === 0)
      expect(schedulesDeleted(next, id)).toBe(true)
      expect(next.execution.deleted).toContain(id)
    } finally {
      cut.close()
      await next.part.stop(1000)
      await database.drop()
    }
  },
)

test('a version published at the same time is refused or goes with the process', async () => {
  const { caller, id } = await published()
  await Promise.allSettled([
    catalog.processes.deleteProcess({ identifier: id }, caller),
    ...Array.from({ length: 5 }, (_, n) => catalog.versions.publishVersion({ process: id, tag: `t${n}` }, caller)),
  ])
  expect(await remains(id)).toBe(0)
})

function schedulesDeleted({ scheduler }: CatalogUnderTest, id: string): boolean {
  return scheduler.heard.some(({ what, processId }) => what === 'deleted' && processId === id)
}

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
