import { TeamService } from '@automation/contract/catalog/v1/team'
import { Failure, unavailable } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import { operatorContext, testDatabase, until, userContext } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { catalogSchema } from '../src/service.ts'
import { startCatalogProcess } from './catalog-process.ts'
import { CatalogUnderTest, quickUpkeep, startCatalog } from './catalog-under-test.ts'

/** Looks for what is left over again and again. */
let catalog: CatalogUnderTest
/** Never looks. */
let direct: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => {
  const started = await startCatalog()
  const other = await startCatalog({ upkeep: { ...quickUpkeep, effectsEveryMs: 600_000 } })
  catalog = started.catalog
  direct = other.catalog
  stop = async () => void (await Promise.all([started.stop(), other.stop()]))
})
afterEach(() => {
  for (const { scheduler } of [catalog, direct]) {
    scheduler.failure = undefined
    scheduler.before = undefined
  }
})
afterAll(() => stop())

const move = ({ teams }: CatalogUnderTest, caller: CallContext, zoneId: string) =>
  teams.updateTeam({ values: { zoneId }, mask: { paths: ['zone_id'] } }, caller)
const rename = ({ processes }: CatalogUnderTest, caller: CallContext, identifier: string, name: string) =>
  processes.updateProcess({ identifier, values: { name }, mask: { paths: ['name'] } }, caller)
const heard = ({ scheduler }: CatalogUnderTest, { principal }: CallContext) => scheduler.of(principal.team)
const announced = (under: CatalogUnderTest, caller: CallContext) => heard(under, caller).map(({ value }) => value)
const revisionOf = async (under: CatalogUnderTest, { principal }: CallContext) => {
  const rows = await under.sql<{ revision: string }>('SELECT revision FROM revisions WHERE team = $1', [principal.team])
  return BigInt(rows[0]!.revision)
}
const left = async (under: CatalogUnderTest, { principal }: CallContext) =>
  (await under.sql('SELECT 1 FROM effects WHERE team = $1', [principal.team])).length

test('a new zone and a new name are told before the change is answered, with the revision that they are of', async () => {
  const caller = await direct.team()
  const { id } = await direct.process(caller)
  await move(direct, caller, 'Europe/Berlin')
  const revision = await revisionOf(direct, caller)
  expect(heard(direct, caller)).toMatchObject([{ what: 'zone', value: 'Europe/Berlin', revision }])
  await rename(direct, caller, id, 'Its new name')
  expect(heard(direct, caller)[1]).toMatchObject({
    what: 'process',
    processId: id,
    value: 'Its new name',
    revision: await revisionOf(direct, caller),
  })
  expect(await left(direct, caller)).toBe(0)
})

test('what stays as it was is not told', async () => {
  const caller = await direct.team()
  const { id, name } = await direct.process(caller)
  await move(direct, caller, 'UTC')
  await rename(direct, caller, id, name)
  await direct.teams.updateTeam({ values: { name: 'Team' }, mask: { paths: ['name'] } }, caller)
  expect(heard(direct, caller)).toEqual([])
})

test('while the scheduler is away changes are made, and it is told when it is back: in order, of each thing the last', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller)
  catalog.scheduler.failure = unavailable('away')
  expect((await move(catalog, caller, 'Europe/Berlin')).zoneId).toBe('Europe/Berlin')
  expect((await rename(catalog, caller, id, 'first')).name).toBe('first')
  await move(catalog, caller, 'Asia/Tokyo')
  expect(heard(catalog, caller)).toEqual([])
  catalog.scheduler.failure = undefined
  await until(async () => (await left(catalog, caller)) === 0)
  expect([...new Set(announced(catalog, caller))]).toEqual(['first', 'Asia/Tokyo'])
})

test('a scheduler that does not answer holds a change up for 2 s at most', async () => {
  const caller = await direct.team()
  direct.scheduler.before = () => new Promise(() => undefined)
  const began = performance.now()
  expect((await move(direct, caller, 'Asia/Tokyo')).zoneId).toBe('Asia/Tokyo')
  expect(performance.now() - began).toBeLessThan(3500)
  direct.scheduler.before = undefined
  // The next change of the team's tells what is left over, too.
  const { id } = await direct.process(caller)
  await rename(direct, caller, id, 'later')
  expect(announced(direct, caller)).toEqual(['Asia/Tokyo', 'later'])
})

test('a change that is made while an older one is told is told, too', async () => {
  const caller = await direct.team()
  direct.scheduler.before = async () => {
    direct.scheduler.before = undefined
    direct.scheduler.failure = unavailable('away')
    await move(direct, caller, 'Asia/Tokyo')
  }
  await move(direct, caller, 'Europe/Berlin')
  direct.scheduler.failure = undefined
  expect(announced(direct, caller)).toEqual(['Europe/Berlin'])
  await move(direct, caller, 'Asia/Tokyo')
  expect(announced(direct, caller)).toEqual(['Europe/Berlin', 'Asia/Tokyo'])
})

test('a change that the scheduler refuses holds up no other', async () => {
  const [refusing, other] = [await catalog.team(), await catalog.team()]
  const { id } = await catalog.process(refusing)
  const refusal = new Failure('internal', 'internal_error', 'Internal error')
  catalog.scheduler.before = async ({ what, team }) => {
    if (what === 'zone' && team === refusing.principal.team) throw refusal
  }
  await move(catalog, refusing, 'Europe/Berlin')
  await rename(catalog, refusing, id, 'renamed')
  catalog.scheduler.failure = unavailable('away')
  await move(catalog, other, 'Asia/Tokyo')
  catalog.scheduler.failure = undefined
  await until(() => announced(catalog, other).includes('Asia/Tokyo'))
  expect(new Set(announced(catalog, refusing))).toEqual(new Set(['renamed']))
  expect(await left(catalog, refusing)).toBe(1)
})

test('of a deleted process nothing is told any more', async () => {
  const caller = await catalog.team()
  const { id } = await catalog.process(caller)
  catalog.scheduler.failure = unavailable('away')
  await rename(catalog, caller, id, 'soon gone')
  await catalog.processes.deleteProcess({ identifier: id }, caller)
  catalog.scheduler.failure = undefined
  await until(() => heard(catalog, caller).length > 0)
  expect(heard(catalog, caller).map(({ what }) => what)).toEqual(['deleted'])
  expect(await left(catalog, caller)).toBe(0)
})

test('a crash between a change and its telling loses nothing', async () => {
  const database = await testDatabase(catalogSchema)
  const cut = await startCatalogProcess(database.url, 'effects-before-telling')
  const next = new CatalogUnderTest(database.url)
  try {
    const caller = userContext('cut')
    await cut.network.client(TeamService).createTeam({ slug: 'cut' }, operatorContext())
    const values = { zoneId: 'Europe/Berlin' }
    const change = cut.network.client(TeamService).updateTeam({ values, mask: { paths: ['zone_id'] } }, caller)
    await expect(change).rejects.toMatchObject({ kind: 'unavailable' })
    await cut.gone
    await next.part.start()
    await until(() => announced(next, caller).includes('Europe/Berlin'))
    expect((await next.teams.getTeam({}, caller)).zoneId).toBe('Europe/Berlin')
  } finally {
    cut.close()
    await next.part.stop(1000)
    await database.drop()
  }
})
