import { InstallationStatus } from '@automation/contract/catalog/v1/dependency'
import { ModuleService } from '@automation/contract/catalog/v1/module'
import { Language } from '@automation/contract/common/v1/language'
import { Status } from '@automation/contract/execution/v1/execution'
import type { CallContext } from '@automation/rpc'
import { operatorContext, until, refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'
import { manifestsOf, succeed } from './manifests.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const { JAVASCRIPT, PYTHON } = Language
const { PENDING } = InstallationStatus
const { stage, read, running } = manifestsOf(() => catalog)

describe('packages that a source names', () => {
  const values = (sourceCode: string, more = {}) => ({ sourceCode, dependenciesAutoDetect: true, ...more })

  test('are installed beside what is installed when it is saved, and its runs wait for them', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.process(caller, values("import _ from 'lodash'"))
    expect((await catalog.spec(caller, id)).awaitedDependencies).toBe('lodash')
    Object.assign(await running(caller, { lodash: '*' }), succeed)
    await until(async () => (await catalog.spec(caller, id)).awaitedDependencies === '')
    await catalog.processes.updateProcess(
      { identifier: id, values: values("import 'zod'"), mask: { paths: ['source_code'] } },
      caller,
    )
    Object.assign(await running(caller, { lodash: '*', zod: '*' }), succeed)
    const spec = await until(async () => {
      const now = await catalog.spec(caller, id)
      return now.awaitedDependencies === '' ? now : undefined
    })
    expect(spec.dependencies?.packages).toEqual({ lodash: '*', zod: '*' })
  })

  test('are waited for by versions that import them, and not by those from before', async () => {
    const caller = await catalog.team()
    const { id: process } = await catalog.process(caller, values("import _ from 'lodash'"))
    Object.assign(await running(caller, { lodash: '*' }), succeed)
    await until(async () => (await catalog.spec(caller, process)).awaitedDependencies === '')
    const change = (sourceCode: string) =>
      catalog.processes.updateProcess(
        { identifier: process, values: { sourceCode }, mask: { paths: ['source_code'] } },
        caller,
      )
    const awaited = async (tag: string) => (await catalog.spec(caller, process, tag)).awaitedDependencies
    const publish = (tag: string) => catalog.versions.publishVersion({ process, tag }, caller)
    await publish('before')
    await change("import _ from 'lodash'; import 'zod'")
    await publish('with-zod')
    // No module has such a name.
    await change("import _ from 'lodash'; import '@acme/kit'")
    await publish('with-kit')
    expect(await Promise.all(['before', 'with-kit'].map(awaited))).toEqual(['', '@acme/kit'])
    await change("import '@acme/kit'; import 'zod'")
    expect(await Promise.all(['before', 'with-zod'].map(awaited))).toEqual(['', '@acme/kit, zod'])
    // One may have begun in between.
    await until(async () => {
      for (const install of catalog.execution.installs.values()) Object.assign(install, succeed)
      return (await awaited('')) === ''
    })
    expect(await awaited('with-kit')).toBe('')
  })

  test('are not looked for where the team or a parent has a module of that name in its language', async () => {
    const [caller, parent] = [await catalog.team(), await catalog.team()]
    const pair = { child: caller.principal.team, parent: parent.principal.team }
    await catalog.teams.grantParent(pair, operatorContext())
    await catalog.teams.updateTeam(
      { values: { parentTeamSlugs: [pair.parent] }, mask: { paths: ['parent_team_slugs'] }, tokenTeams: [] },
      caller,
    )
    const module = (name: string, of: CallContext, language = JAVASCRIPT) =>
      catalog.client(ModuleService).createModule({ name, sourceCode: '', language }, of)
    await module('own-tools', caller)
    await module('inherited', parent)
    await module('lodash', caller, PYTHON)
    await module('shapes', caller, PYTHON)
    const source = "import 'own-tools'; const a = require('inherited'); import 'lodash'"
    const { id } = await catalog.process(caller, values(source))
    expect((await catalog.spec(caller, id)).awaitedDependencies).toBe('lodash')
    const python = { ...values('import shapes\nimport requests'), name: 'Python', language: PYTHON }
    const { id: other } = await catalog.process(caller, python)
    expect((await catalog.spec(caller, other)).awaitedDependencies).toBe('requests')
  })

  test('that can not be installed are the reason of the runs that waited', async () => {
    const caller = await catalog.team()
    const { id } = await catalog.process(caller, values("require('nosuch')"))
    const other = await catalog.process(caller, { name: 'Other', dependenciesAutoDetect: true })
    Object.assign(await running(caller, { nosuch: '*' }), { status: Status.ERROR, explanation: '404' })
    const spec = await until(async () => {
      const now = await catalog.spec(caller, id)
      return now.awaitedDependencies === '' ? now : undefined
    })
    expect(spec.dependenciesError).toBe('404')
    expect((await catalog.spec(caller, other.id!)).dependenciesError).toBeUndefined()
  })

  test.each([
    'service stopped',
    'runner lost',
    'runner lost: the service was restarted while it ran',
    'RunnerLost: The runner was cut off from the service, and ended the run',
  ])('begin again where "%s" has cut them off, with what was found meanwhile', async (explanation) => {
    const caller = await catalog.team()
    await catalog.process(caller, values('import ky from "ky"'))
    const cutOff = await running(caller, { ky: '*' })
    const { id } = await catalog.process(caller, { ...values('import got from "got"'), name: 'Other' })
    Object.assign(cutOff, { status: Status.ERROR, explanation })
    Object.assign(await running(caller, { got: '*', ky: '*' }), succeed)
    await until(async () => (await catalog.spec(caller, id)).awaitedDependencies === '')
    const { installs } = await catalog.dependencies.listInstalls({ language: JAVASCRIPT }, caller)
    expect(installs.map(({ error }) => error)).toEqual([undefined, explanation])
  })

  test('are added to what the user has staged, which stays staged', async () => {
    const caller = await catalog.team()
    await stage(caller, { axios: '^1' })
    await catalog.process(caller, values('import ky from "ky"'))
    Object.assign(await running(caller, { ky: '*' }), succeed)
    await until(async () => (await read(caller)).dependencies['ky'] === '*')
    const { nextInstallation } = await read(caller)
    expect(nextInstallation).toMatchObject({ status: PENDING, dependencies: { axios: '^1', ky: '*' } })
  })

  test('a process with a set of its own has its manifest installed, and no other sees it', async () => {
    const caller = await catalog.team()
    const own = { dependencies: { lodash: '4.17.20' }, dependenciesScopedToProcess: true }
    const { id } = await catalog.process(caller, { name: 'Own', ...own })
    const other = await catalog.process(caller, { name: 'Other' })
    Object.assign(await running(caller, { lodash: '4.17.20' }), succeed)
    await until(async () => (await catalog.spec(caller, id)).dependencies?.packages['lodash'] === '4.17.20')
    expect((await catalog.spec(caller, other.id!)).dependencies).toBeUndefined()
    expect((await read(caller)).dependencies).toEqual({})
  })

  test('a wrong entry in a process manifest is refused with its path', async () => {
    const caller = await catalog.team()
    const wrong = catalog.process(caller, { dependencies: { a: 'file:../b' } })
    expect(await refusal(wrong)).toBe('/manifest/dependencies/a')
  })
})
