import { Status } from '@automation/contract/execution/v1/execution'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '@automation/testing'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'
import { manifestsOf, succeed } from './manifests.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const { stage, install, running } = manifestsOf(() => catalog)
const dependencies = { lodash: '^4', axios: '1' }
const sorted = { axios: '1', lodash: '^4' }

describe('packages that are written for a process are its own', () => {
  test('when it is created, unless it says that they are not', async () => {
    const caller = await catalog.team()
    const { settings } = await catalog.process(caller, { name: 'a', dependencies })
    expect(settings).toMatchObject({ dependenciesScopedToProcess: true })
    const says = await catalog.process(caller, { name: 'b', dependencies, dependenciesScopedToProcess: false })
    expect(says.settings).toMatchObject({ dependenciesScopedToProcess: false })
    const none = await catalog.process(caller, { name: 'c', dependencies: {} })
    expect(none.settings).toMatchObject({ dependenciesScopedToProcess: false })
  })

  test('when it is changed, unless it says that they are not', async () => {
    const caller = await catalog.team()
    const { id: identifier } = await catalog.process(caller)
    const change = async (values: object, paths: string[]) =>
      (await catalog.processes.updateProcess({ identifier, values, mask: { paths } }, caller)).settings
    expect(await change({ dependencies: {} }, ['dependencies'])).toMatchObject({ dependenciesScopedToProcess: false })
    const not = { dependencies, dependenciesScopedToProcess: false }
    expect(await change(not, ['dependencies', 'dependencies_scoped_to_process'])).toMatchObject({
      dependenciesScopedToProcess: false,
    })
    expect(await change({ dependencies }, ['dependencies'])).toMatchObject({ dependenciesScopedToProcess: true })
    expect((await catalog.spec(caller, identifier)).awaitedDependencies).toBe('lodash, axios')
  })

  test('and are waited for by versions that ask for them, and not by those from before', async () => {
    const caller = await catalog.team()
    const { id: process } = await catalog.process(caller, { dependencies: { lodash: '^4' } })
    Object.assign(await running(caller, { lodash: '^4' }), succeed)
    const awaited = async (tag?: string) => (await catalog.spec(caller, process, tag)).awaitedDependencies
    await until(async () => (await awaited()) === '')
    const publish = (tag: string) => catalog.versions.publishVersion({ process, tag }, caller)
    const change = (more: Record<string, string>) => {
      const values = { dependencies: more, dependenciesScopedToProcess: true }
      const mask = { paths: ['dependencies', 'dependencies_scoped_to_process'] }
      return catalog.processes.updateProcess({ identifier: process, values, mask }, caller)
    }
    await publish('before')
    await change(dependencies)
    await publish('after')
    expect(await Promise.all([awaited(), awaited('before'), awaited('after')])).toEqual([
      ...['lodash, axios', '', 'lodash, axios'],
    ])
    await change({})
    expect(await awaited()).toBe('(none)')
    expect(await awaited('before')).toBe('')
  })
})

describe('a set of just these packages that the team has already is there with the very write', () => {
  test('for a new process, from another process', async () => {
    const [caller, otherTeam] = [await catalog.team(), await catalog.team()]
    const first = await catalog.process(caller, { name: 'first', dependencies })
    const run = await running(caller, sorted)
    Object.assign(run, succeed)
    await until(async () => (await catalog.spec(caller, first.id)).awaitedDependencies === '')
    const second = await catalog.process(caller, { name: 'second', dependencies })
    expect(await catalog.spec(caller, second.id)).toMatchObject({
      awaitedDependencies: '',
      dependencies: { key: run.installId, packages: sorted, digest: 'abc' },
    })
    const other = await catalog.process(caller, { name: 'other', dependencies: { lodash: '^4' } })
    expect(await catalog.spec(caller, other.id)).toMatchObject({ awaitedDependencies: 'lodash' })
    const theirs = await catalog.process(otherTeam, { name: 'theirs', dependencies })
    expect((await catalog.spec(otherTeam, theirs.id)).awaitedDependencies).toBe('lodash, axios')
  })

  test('for a changed process, from the team', async () => {
    const caller = await catalog.team()
    await stage(caller, dependencies)
    await install(caller)
    const run = await running(caller, sorted)
    const { id: identifier } = await catalog.process(caller, { dependencies: { ky: '1' } })
    Object.assign(await running(caller, { ky: '1' }), succeed)
    await until(async () => (await catalog.spec(caller, identifier)).awaitedDependencies === '')
    Object.assign(run, succeed)
    await until(
      async () => (await catalog.dependencies.getManifest({ language: 1 }, caller)).dependencies['axios'] === '1',
    )
    await catalog.processes.updateProcess(
      { identifier, values: { dependencies }, mask: { paths: ['dependencies'] } },
      caller,
    )
    const spec = await catalog.spec(caller, identifier)
    expect(spec).toMatchObject({ awaitedDependencies: '', dependencies: { key: run.installId, packages: sorted } })
  })
})

describe('a process runs with the packages that it was saved with last, also where another install was under way then', () => {
  const [lodash, axios, none] = [{ lodash: '^4' }, { axios: '1' }, {}]
  test.each([
    ['saved with others and back', lodash, [axios, lodash], []],
    ['saved without one of them', dependencies, [lodash], [lodash]],
    ['saved without any', lodash, [none], []],
  ])('%s', async (_name, first, saves, installs) => {
    const caller = await catalog.team()
    const { id } = await catalog.process(caller, { dependencies: first })
    const run = await running(caller, first === dependencies ? sorted : first)
    for (const values of saves.map((packages) => ({ dependencies: packages })))
      await catalog.processes.updateProcess({ identifier: id, values, mask: { paths: ['dependencies'] } }, caller)
    expect((await catalog.spec(caller, id)).awaitedDependencies).not.toBe('')
    Object.assign(run, succeed)
    for (const packages of installs) Object.assign(await running(caller, packages), succeed)
    await until(async () => (await catalog.spec(caller, id)).awaitedDependencies === '')
    expect((await catalog.spec(caller, id)).dependencies?.packages ?? {}).toEqual(saves.at(-1))
    const [row] = await catalog.sql('SELECT staged, status FROM dependency_manifests WHERE process_id = $1', [id])
    expect(row).toEqual({ staged: null, status: null })
  })

  test('and one that fails is what is told', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.process(caller, { dependencies: lodash })
    const run = await running(caller, lodash)
    for (const values of [{ dependencies: axios }, { dependencies: lodash }])
      await catalog.processes.updateProcess({ identifier: id, values, mask: { paths: ['dependencies'] } }, caller)
    Object.assign(run, { status: Status.ERROR, explanation: 'InstallError: no such package' })
    const spec = await until(async () => {
      const now = await catalog.spec(caller, id)
      return now.awaitedDependencies === '' ? now : undefined
    })
    expect(spec.dependenciesError).toBe('no such package')
  })

  test('and one that a stop of the service has cut off begins again, as another one', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.process(caller, { dependencies: lodash })
    const run = await running(caller, lodash)
    Object.assign(run, { status: Status.ERROR, explanation: 'service stopped' })
    const again = await running(caller, lodash)
    expect(again.installId).not.toBe(run.installId)
    expect((await catalog.spec(caller, id)).awaitedDependencies).toBe('lodash')
    Object.assign(again, succeed)
    await until(async () => (await catalog.spec(caller, id)).awaitedDependencies === '')
    expect((await catalog.spec(caller, id)).dependencies).toMatchObject({ key: again.installId, packages: lodash })
  })

  test('and one that is cut off again and again fails', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.process(caller, { dependencies: lodash })
    for (let times = 0; times <= 5; times++)
      Object.assign(await running(caller, lodash), { status: Status.ERROR, explanation: 'service stopped' })
    const spec = await until(async () => {
      const now = await catalog.spec(caller, id)
      return now.awaitedDependencies === '' ? now : undefined
    })
    expect(spec.dependenciesError).toBe('service stopped')
  })
})
