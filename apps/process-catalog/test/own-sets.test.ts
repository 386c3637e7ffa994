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
