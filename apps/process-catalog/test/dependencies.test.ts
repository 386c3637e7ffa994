import { InstallationStatus } from '@automation/contract/catalog/v1/dependency'
import { Language } from '@automation/contract/common/v1/language'
import { Status } from '@automation/contract/execution/v1/execution'
import { until, refusal } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCatalog, type CatalogUnderTest } from './catalog-under-test.ts'
import { manifestsOf, succeed } from './manifests.ts'
import { refusedNames } from './refused-names.ts'
import { refusedSpecifiers } from './refused-specifiers.ts'

let catalog: CatalogUnderTest
let stop: () => Promise<void>
beforeAll(async () => ({ catalog, stop } = await startCatalog()))
afterAll(() => stop())

const { JAVASCRIPT, PYTHON } = Language
const { PENDING, INSTALLING, INSTALLED, FAILED } = InstallationStatus

const { stage, read, install, discard, running } = manifestsOf(() => catalog)

describe('the manifest of a team', () => {
  test('is empty at first; staging changes nothing that is installed', async () => {
    const caller = await catalog.team()
    expect(await read(caller)).toMatchObject({ language: JAVASCRIPT, dependencies: {} })
    const staged = await stage(caller, { lodash: '^4.17.0' })
    expect(staged).toMatchObject({
      dependencies: {},
      nextInstallation: { status: PENDING, dependencies: { lodash: '^4.17.0' } },
    })
    expect(await read(caller)).toEqual(staged)
    expect((await read(caller, PYTHON)).nextInstallation).toBeUndefined()
    expect((await read(await catalog.team())).nextInstallation).toBeUndefined()
    expect((await discard(caller)).nextInstallation).toBeUndefined()
  })

  test('installing and discarding need something staged', async () => {
    const caller = await catalog.team()
    expect(await refusal(install(caller))).toBe('nothing_staged')
    expect(await refusal(discard(caller))).toBe('nothing_staged')
  })

  test('becomes what was staged when its install has succeeded, and only then', async () => {
    const caller = await catalog.team()
    const { slug } = await catalog.process(caller)
    await stage(caller, { lodash: '^4.17.0' })
    await install(caller)
    const run = await running(caller, { lodash: '^4.17.0' })
    expect(await read(caller)).toMatchObject({ dependencies: {}, nextInstallation: { status: INSTALLING } })
    expect((await catalog.spec(caller, slug)).dependencies).toBeUndefined()
    expect(await refusal(stage(caller, {}))).toBe('installation_under_way')
    expect(await refusal(discard(caller))).toBe('installation_under_way')
    expect(await refusal(install(caller))).toBe('installation_under_way')
    Object.assign(run, succeed)
    const done = await until(async () => {
      const now = await read(caller)
      return now.nextInstallation === undefined ? now : undefined
    })
    expect(done.dependencies).toEqual({ lodash: '^4.17.0' })
    const { dependencies } = await catalog.spec(caller, slug)
    expect(dependencies).toMatchObject({ packages: { lodash: '^4.17.0' }, digest: 'abc', key: run.installId })
  })

  test('keeps what is installed, and says why, when an install fails; it may be tried again', async () => {
    const caller = await catalog.team()
    await stage(caller, { nosuch: '1' })
    await install(caller)
    Object.assign(await running(caller, { nosuch: '1' }), { status: Status.ERROR, explanation: 'npm error 404' })
    const failed = await until(async () => {
      const { nextInstallation } = await read(caller)
      return nextInstallation?.status === FAILED ? nextInstallation : undefined
    })
    expect(failed).toMatchObject({ error: 'npm error 404', dependencies: { nosuch: '1' } })
    await install(caller)
    await running(caller, { nosuch: '1' })
  })

  test('an empty list is installed without a run', async () => {
    const caller = await catalog.team()
    await stage(caller, {})
    await install(caller)
    await until(async () => (await read(caller)).nextInstallation === undefined)
  })

  for (const [language, id] of [
    ['JAVASCRIPT', JAVASCRIPT],
    ['PYTHON', PYTHON],
  ] as const) {
    test(`refuses names that are none of a ${language} package`, async () => {
      const caller = await catalog.team()
      for (const name of refusedNames[language])
        expect(await refusal(stage(caller, Object.fromEntries([[name, '*']]), id)), name).toMatch(/^\/dependencies/)
    })

    test(`refuses specifiers that are none of ${language}`, async () => {
      const caller = await catalog.team()
      for (const specifier of refusedSpecifiers[language])
        expect(await refusal(stage(caller, { a: specifier }, id)), specifier).toBe('/dependencies/a')
    })
  }

  test('an installer is given the bare specifiers: of blanks, `*`', async () => {
    const caller = await catalog.team()
    const given = { a: '', b: ' ', c: '\t>=1.0 , <2, ', d: '===1.16.0', e: ' latest\n', f: '>=1,' }
    const bare = { a: '*', b: '*', c: '>=1.0 , <2', d: '===1.16.0', e: 'latest', f: '>=1' }
    expect((await stage(caller, given, PYTHON)).nextInstallation?.dependencies).toEqual(given)
    await install(caller, PYTHON)
    Object.assign(await running(caller, bare), succeed)
    await until(async () => (await read(caller, PYTHON)).nextInstallation === undefined)
    expect((await read(caller, PYTHON)).dependencies).toEqual(given)
    const { slug } = await catalog.process(caller, { language: PYTHON })
    expect((await catalog.spec(caller, slug)).dependencies).toMatchObject({ packages: bare })
    await stage(caller, { a: '', b: ' ^1.0.0\r\n' })
    await install(caller)
    Object.assign(await running(caller, { a: '*', b: '^1.0.0' }), succeed)
  })

  test('takes what npm and PyPI take', async () => {
    const caller = await catalog.team()
    const npm = [
      '*',
      'latest',
      '1',
      '1.2',
      '1.2.3',
      'v1.2.3',
      '^1.2.3',
      '~1.2',
      '>=1 <2',
      '>= 1.2.3',
      '1 || 2 || ^3.1.0-beta.2',
    ]
    const npmMore = [
      '1.2 - 2.3.4',
      '1.x',
      '1.2.*',
      '1.2.3-rc.1+build.5',
      'git+https://github.com/a/b.git',
      'https://github.com/a/b.git#v1.2',
      'git+https://host.org/a/b#semver:^1.2',
    ]
    for (const each of [...npm, ...npmMore])
      await stage(caller, { 'lodash.get': each, '@scope/name': each, JSONStream: each })
    const pypi = [
      '*',
      'latest',
      '1',
      '1.2.3',
      '==1.2.3',
      '>=1,<2',
      '~=1.4.2',
      '!=1.5',
      '==1.*',
      '>= 1.0 , < 2.0',
      '==1.0rc1',
      '==2!1.0',
      '==1.0.post1.dev2',
      '==1.0+local.1',
      '===1.16.0',
      '=== 2004d_x+y!1',
      '>=1,===1.5',
      '~=1.4.2, ',
      `===${'1'.repeat(252)}`,
    ]
    const pypiMore = [
      'git+https://github.com/a/b',
      'git+https://github.com/a/b.git@v1.0',
      'https://github.com/a/b.git',
      'https://github.com/a/b.git@v1.0',
    ]
    for (const each of [...pypi, ...pypiMore])
      await stage(caller, { 'requests[socks,use_chardet]': each, 'ruamel.yaml': each }, PYTHON)
  })

  test('refuses two names of one package', async () => {
    const both = { 'Ruamel.Yaml': '1', ruamel_yaml: '2' }
    expect(await refusal(stage(await catalog.team(), both, PYTHON))).toBe('/dependencies/ruamel_yaml')
  })
})

describe('storage is told of the sets that are in use', () => {
  const listed = (words: string, isSo: (sets: string[]) => boolean) =>
    until(() => isSo(catalog.execution.sets), { what: words })

  test('from the beginning of their install, and of a team those of the last five to go back to', async () => {
    const caller = await catalog.team()
    const nameOf = (installId: string) => `${caller.principal.team} ${installId}`
    const made: string[] = []
    for (let patch = 0; patch < 6; patch += 1) {
      const wanted = { lodash: `^4.17.${patch}` }
      await stagedAgain(caller, wanted)
      const run = await running(caller, wanted)
      await listed('the set that is being made', (sets) => sets.includes(nameOf(run.installId)))
      made.push(run.installId)
      Object.assign(run, succeed)
    }
    const [oldest = '', ...kept] = made
    await listed(
      'the last five',
      (sets) => !sets.includes(nameOf(oldest)) && kept.every((id) => sets.includes(nameOf(id))),
    )

    const language = JAVASCRIPT
    const { installs } = await catalog.dependencies.listInstalls({ language }, caller)
    expect(installs.map(({ id, active }) => [id, active])).toEqual(made.map((id, n) => [id, n === 5]).toReversed())
    const rollBack = (id: string, as = caller) => catalog.dependencies.rollBackInstall({ language, id }, as)
    expect(await refusal(rollBack(oldest))).toBe('install_not_kept')
    expect(await refusal(rollBack(kept[0]!, await catalog.team()))).toBe('install_not_found')
    catalog.execution.keepsSets = false
    expect(await refusal(rollBack(kept[0]!))).toBe('install_not_kept')
    catalog.execution.keepsSets = true
    expect((await rollBack(kept[0]!)).dependencies).toEqual({ lodash: '^4.17.1' })
    const { slug } = await catalog.process(caller)
    expect((await catalog.spec(caller, slug)).dependencies).toMatchObject({ key: kept[0], digest: 'abc' })
  })

  test('and an install that a replica of the release before has ended is known to have ended', async () => {
    const caller = await catalog.team()
    const { team } = caller.principal
    await stagedAgain(caller, { lodash: '^4.17.0' })
    const { installId } = await running(caller, { lodash: '^4.17.0' })
    await catalog.sql(
      `UPDATE dependency_manifests SET installed = installing, set_key = install_id, digest = 'abc', install_id = NULL,
         installing = NULL, execution_id = NULL, staged = NULL, status = NULL WHERE team = $1`,
      [team],
    )
    await until(async () => {
      const { installs } = await catalog.dependencies.listInstalls({ language: JAVASCRIPT }, caller)
      return installs.some(({ id, status, active }) => id === installId && status === INSTALLED && active)
    })
    await catalog.sql('DELETE FROM dependency_installs WHERE team = $1', [team])
    await stagedAgain(caller, { lodash: '^4.17.1' })
    const next = await running(caller, { lodash: '^4.17.1' })
    const { installs } = await catalog.dependencies.listInstalls({ language: JAVASCRIPT }, caller)
    expect(installs.map(({ id }) => id)).toEqual([next.installId, installId])
  })

  test('however many there are', async () => {
    const { principal } = await catalog.team()
    await catalog.sql(
      `INSERT INTO dependency_manifests (id, team, language, process_id, set_key, updated_at)
       SELECT gen_random_uuid(), $1, 'PYTHON', gen_random_uuid(), gen_random_uuid(), now() FROM generate_series(1, 1200)`,
      [principal.team],
    )
    const rows = await catalog.sql<{ name: string }>(
      `SELECT team || ' ' || set_key AS name FROM dependency_manifests WHERE set_key IS NOT NULL`,
    )
    await listed('every one', (sets) => rows.every(({ name }) => sets.includes(name)))
  })

  async function stagedAgain(caller: Awaited<ReturnType<CatalogUnderTest['team']>>, packages: Record<string, string>) {
    await until(async () => (await read(caller)).nextInstallation === undefined)
    await stage(caller, packages)
    await install(caller)
  }
})

test('metrics tell how many installs are under way, and since when', async () => {
  // Installs of other tests would be counted, too.
  const own = await startCatalog()
  try {
    const metric = async (name: string) =>
      Number(new RegExp(`^${name} (\\S+)`, 'm').exec(await own.catalog.metrics())?.[1])
    const { stage, install, running } = manifestsOf(() => own.catalog)
    const caller = await own.catalog.team()
    await stage(caller, { lodash: '^4.16.0' })
    await install(caller)
    const run = await running(caller, { lodash: '^4.16.0' })
    await until(async () => (await metric('catalog_installs_waiting')) === 1)
    expect(await metric('catalog_installs_oldest_seconds')).toBeGreaterThan(0)
    Object.assign(run, succeed)
    await until(async () => (await metric('catalog_installs_waiting')) === 0)
  } finally {
    await own.stop()
  }
})
