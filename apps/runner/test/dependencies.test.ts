import { randomUUID } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Language } from '@automation/contract/common/v1/language'
import { Environment } from '@automation/service'
import { until } from '@automation/testing'
import { littleRegistry, npmPackage } from '@automation/testing/little-registry'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readRunnerConfig } from '../src/service.ts'
import { startRunner, startRunnerWith, type RunnerUnderTest } from './runner-under-test.ts'

const folder = mkdtempSync(join(tmpdir(), 'dependencies-test-'))
const sets = join(folder, 'sets')
let registry: Awaited<ReturnType<typeof littleRegistry>>
let under: RunnerUnderTest
/** By language: one set with what most tests need. */
const usual = {} as Record<Language, ReturnType<typeof setOf>>

beforeAll(async () => {
  registry = await littleRegistry(
    {
      good: npmPackage('exports.answer = () => 42', {}, [{ path: 'package/data.txt', text: 'some data' }]),
      roomy: npmPackage('', {}, [
        { path: 'package/noise', noise: 100_000 },
        { path: 'package/zeros', zeros: 1_400_000 },
      ]),
      large: npmPackage('exports.answer = 1', {}, [{ path: 'package/noise', noise: 600_000 }]),
      many: npmPackage(
        'exports.answer = 2',
        {},
        Array.from({ length: 1500 }, (_, at) => ({ path: `package/files/${at}`, text: 'some data' })),
      ),
    },
    {
      roomy: {
        version: '1.0.0',
        entries: [
          { path: 'roomy/noise', noise: 100_000 },
          { path: 'roomy/zeros', zeros: 1_400_000 },
        ],
      },
      simple: {
        version: '2.0.0',
        entries: [
          { path: 'simple/__init__.py', text: 'answer = lambda: 43\n' },
          { path: 'simple/tests/__init__.py', text: 'import simple\n' },
        ],
      },
    },
  )
  under = await startRunner({
    ...registry.settings,
    RUNNER_DEPENDENCIES_DIR: sets,
    NPM_REGISTRY: signedIn('registry-token-1234'),
  })
  usual[JAVASCRIPT] = setOf({ good: '^1.0.0' })
  usual[PYTHON] = setOf({ simple: '>=1,<3' })
  for (const language of [JAVASCRIPT, PYTHON])
    expect((await install(language, usual[language])).explanation).toBeUndefined()
})
afterAll(async () => {
  await under.stop()
  await registry.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The address of the npm registry with what signs in there. */
const signedIn = (user: string) => registry.settings.NPM_REGISTRY.replace('://', `://${user}@`)

const { JAVASCRIPT, PYTHON } = Language
type Packages = Record<string, string>

const setOf = (packages: Packages) => ({ key: randomUUID(), packages, digest: '' })
const install = (language: Language, dependencies: ReturnType<typeof setOf>) =>
  under.replica.run('', { spec: { language, dependencies, isInstall: true } })

const runWith = (language: Language, source: string) =>
  under.replica.run(source, { spec: { language, dependencies: usual[language] } })

describe('a set of packages', () => {
  test('is kept apart by runtime, platform and C library, also where runners of several kinds share a directory', async () => {
    const dependencies = usual[JAVASCRIPT]
    const [name = ''] = readdirSync(sets).filter((each) => each.startsWith(dependencies.key))
    expect(name.slice(dependencies.key.length)).toMatch(/^-node\d+-(linux-\w+-(glibc[\d.]+|musl)|darwin-\w+)$/)
    const foreign = setOf({ good: '*' })
    cpSync(join(sets, name), join(sets, `${foreign.key}-node1-linux-x64-other`), { recursive: true })
    writeFileSync(
      join(sets, `${foreign.key}-node1-linux-x64-other/files/node_modules/good/index.js`),
      'exports.answer = 0',
    )
    const { value } = await under.replica.run("return require('good').answer()", {
      spec: { language: JAVASCRIPT, dependencies: foreign },
    })
    expect(value).toBe(42)
  })

  test('is missed with the reason where it could not be installed, and no longer once it could', async () => {
    const spec = { dependenciesError: 'npm error 404' }
    const why = 'packages that were asked for could not be installed: npm error 404'
    const inJavaScript = await under.replica.run("require('gone')", { spec })
    expect(inJavaScript.explanation).toBe(`Error: Cannot find module 'gone'; ${why}`)
    const inPython = await under.replica.run('import gone', { spec: { ...spec, language: PYTHON } })
    expect(inPython.explanation).toBe(`ModuleNotFoundError: No module named 'gone'; ${why}`)
    expect((await under.replica.run("require('gone')")).explanation).toContain('; to add a package')
  })

  test('can not be changed by a run, and is not there for a run of another set', async () => {
    const source = `const { createRequire } = require('module'); require('good')
      const found = Object.keys(require('module')._cache).find((path) => path.includes('node_modules/good'))
      try { require('fs').appendFileSync(found, 'x'); return 'written' } catch (error) { return error.code }`
    expect((await runWith(JAVASCRIPT, source)).value).toMatch(/EROFS|EACCES|EPERM/)
    const without = await under.replica.run("return require('good')")
    expect(without.explanation).toMatch(/^Error: Cannot find module 'good'; to add a package/)
    const misspelt = await runWith(JAVASCRIPT, "require('goood')")
    expect(misspelt.explanation).toContain("Cannot find module 'goood'; did you mean 'good'?")
  })

  test('of Python is compiled ahead, but for what tests its packages', () => {
    const name = readdirSync(sets).find((each) => each.startsWith(usual[PYTHON].key))!
    const files = (path: string) => readdirSync(join(sets, name, 'files/site-packages/simple', path))
    expect(files('.')).toContain('__pycache__')
    expect(files('tests')).toEqual(['__init__.py'])
  })

  test('is installed by the runner itself where a run comes first', async () => {
    const dependencies = setOf({ good: '*' })
    const run = await under.replica.run("return require('good').answer()", { spec: { dependencies } })
    expect(run.value).toBe(42)
  })

  test('what the installer says is the log, and its end the digest of what was made', async () => {
    const { value } = await install(JAVASCRIPT, setOf({ good: '*' }))
    expect(value).toMatchObject({ digest: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: expect.any(Number) })
  })
})

describe('an install that fails', () => {
  test.each([
    [
      'npm',
      JAVASCRIPT,
      { nosuch: '*' },
      /^InstallError: The registry of npm, or the one in its place, has no such package[^]*E404[^]*nosuch/,
    ],
    [
      'pip',
      PYTHON,
      { nosuch: '*' },
      /^InstallError: PyPI, or the index in its place, has no such package or version as a wheel[^]*No matching distribution found for nosuch/,
    ],
  ] as const)(
    'of %s says so in the installer’s own last lines, and leaves no set',
    async (_, language, packages, words) => {
      const dependencies = setOf(packages)
      const { explanation } = await install(language, dependencies)
      expect(explanation).toMatch(words)
      expect(readdirSync(sets).filter((name) => name.startsWith(dependencies.key) || name.startsWith('.'))).toEqual([])
    },
  )

  test('of files that the runner can not write says no more than that', async () => {
    const directory = join(folder, 'no-folder')
    const other = await startRunner({ ...registry.settings, RUNNER_DEPENDENCIES_DIR: directory })
    rmSync(directory, { recursive: true })
    writeFileSync(directory, '')
    const { explanation } = await other.replica.run('', { spec: { dependencies: setOf({ good: '*' }) } })
    await other.stop()
    expect(explanation).toBe(
      'InstallError: The runner could not write the packages; try again later, or tell your operator',
    )
  })

  test('is ended by a kill, and nothing of it is left', async () => {
    const dependencies = setOf({ good: '*' })
    const { id } = under.replica.hand('', { spec: { dependencies, isInstall: true } })
    under.replica.kill(id)
    await under.settled()
    await until(() => readdirSync(sets).every((name) => !name.startsWith('.')))
  })
})

/** Of an install by a program in the place of npm's. */
async function explanationWith(program: string): Promise<string | undefined> {
  const npm = join(folder, randomUUID())
  mkdirSync(join(npm, 'bin'), { recursive: true })
  writeFileSync(join(npm, 'package.json'), '{}')
  writeFileSync(join(npm, 'bin/npm-cli.js'), program)
  const settings = { RUNNER_DEPENDENCIES_DIR: mkdtempSync(join(folder, 'no-sets-')) }
  const alone = await startRunnerWith({ dependencies: { npm: join(npm, 'bin/npm-cli.js') } }, settings)
  const spec = { language: JAVASCRIPT, dependencies: setOf({ good: '*' }), isInstall: true }
  const { explanation } = await alone.replica.run('', { spec })
  await alone.stop()
  return explanation
}

test('where no registry is named npm is told none, so that its own default counts', async () => {
  const tells = `console.log(require('fs').readFileSync(process.env.npm_config_userconfig, 'utf8')); process.exit(1)`
  const explanation = await explanationWith(tells)
  expect(explanation).toContain('allow-git=')
  expect(explanation).not.toContain('registry')
})

test('where the runner has things is not told, nor of files that are gone', async () => {
  const tells = `const { cwd, env: { HOME }, execPath } = process
    for (const line of [cwd() + '/node_modules/a', HOME + '/other', execPath, __filename, 'https://host' + HOME + '/a'])
      console.log('at', line)
    console.log('For a full report see:\\n' + HOME + '/npm/_logs/report.txt')
    process.exit(1)`
  const explanation = await explanationWith(tells)
  const [a, b, c, d, e, ...others] = explanation!.split('\n')
  expect([a, b, c, d]).toEqual(['InstallError: at ./node_modules/a', 'at ./other', 'at node', 'at npm/bin/npm-cli.js'])
  expect([e, others]).toEqual([expect.stringMatching(/^at https:\/\/host\/.+\/a$/), []])
  // Also not in a last line that has no end.
  const unended = "process.stdout.write('at ' + process.cwd() + '/b', () => process.exit(1))"
  expect(await explanationWith(unended)).toBe('InstallError: at ./b')
})

test('packages whose versions do not go together are told without what can not be done', async () => {
  const said = 'npm error code ERESOLVE\nnpm error retry this command with --force'
  expect(await explanationWith(`console.log(${JSON.stringify(said)}); process.exit(1)`)).toMatch(
    /^InstallError: The packages want versions of each other[^]*npm error code ERESOLVE/,
  )
})

test('a repository that npm can not read over https is told, and not that ssh is not allowed alone', async () => {
  const said = "npm error fatal: transport 'ssh' not allowed"
  expect(await explanationWith(`console.log(${JSON.stringify(said)}); process.exit(1)`)).toMatch(
    /^InstallError: The repository can not be read over https[^]*\nnpm error fatal: transport 'ssh' not allowed$/,
  )
})

test('the least recently used sets that no child finds are removed before there are too many', async () => {
  const directory = join(folder, 'little-room')
  const settings = { ...registry.settings, RUNNER_DEPENDENCIES_DIR: directory }
  const little = await startRunnerWith({ dependencies: { keptMb: 1 } }, settings)
  const [used, unused, last] = [setOf({ large: '*' }), setOf({ large: '*' }), setOf({ large: '*' })]
  const { replica } = little
  const { id } = replica.hand("require('large'); console.log('on'); await new Promise((go) => setTimeout(go, 1e6))", {
    spec: { dependencies: used },
  })
  await until(() => replica.logOf(id).length > 0, { what: 'a run with a set' })
  for (const dependencies of [unused, last]) await replica.run('', { spec: { dependencies, isInstall: true } })
  const keys = readdirSync(directory).map((name) => name.slice(0, used.key.length))
  expect(keys.toSorted()).toEqual([used.key, last.key].toSorted())
  expect((await replica.run("return require('large').answer", { spec: { dependencies: used } })).value).toBe(1)
  await little.stop(0)
})

test('a runner does not start where others may change the usual place of packages', async () => {
  const shared = join(folder, 'shared')
  const usually = join(shared, `automation-dependencies-${process.getuid!()}`)
  mkdirSync(usually, { recursive: true })
  vi.stubEnv('TMPDIR', shared)
  chmodSync(usually, 0o777)
  await expect(startRunner()).rejects.toThrow(
    `RUNNER_DEPENDENCIES_DIR must be set: others than this account may change ${usually}`,
  )
  chmodSync(usually, 0o700)
  await (await startRunner()).stop()
  vi.unstubAllEnvs()
})

test('a set may be of many little files', async () => {
  const directory = join(folder, 'little-files')
  const little = await startRunner({
    ...registry.settings,
    RUNNER_DEPENDENCIES_DIR: directory,
    DEPENDENCIES_MAX_MB: '8',
  })
  const spec = { language: JAVASCRIPT, dependencies: setOf({ many: '*' }), isInstall: true }
  const { explanation } = await little.replica.run('', { spec })
  await little.stop()
  expect(explanation).toBeUndefined()
})

test.for([
  ['npm', JAVASCRIPT, 'good'],
  ['PyPI', PYTHON, 'simple'],
] as const)('a set of %s that is too large names the largest packages, and what to do', async ([, language, small]) => {
  const directory = join(folder, `no-room-${language}`)
  const little = await startRunner({
    ...registry.settings,
    RUNNER_DEPENDENCIES_DIR: directory,
    DEPENDENCIES_MAX_MB: '1',
  })
  const spec = { language, dependencies: setOf({ roomy: '*', [small]: '*' }), isInstall: true }
  const { explanation } = await little.replica.run('', { spec })
  await little.stop()
  expect(explanation).toMatch(
    /The packages take 1\.4 MiB, and a set may have 1 \(DEPENDENCIES_MAX_MB\)\. The largest: roomy 1\.4, .*\nLeave out what/,
  )
})

describe('a registry’s token', () => {
  test('goes to the registry and not into the set', async () => {
    const source = `require('good'); const { execFileSync } = require('child_process')
      const found = Object.keys(require('module')._cache).find((path) => path.includes('node_modules/good'))
      const root = found.slice(0, found.indexOf('node_modules'))
      const read = (directory) => require('fs').readdirSync(directory, { withFileTypes: true }).flatMap((each) =>
        each.isDirectory() ? read(directory + '/' + each.name) : [require('fs').readFileSync(directory + '/' + each.name, 'utf8')])
      return read(root).some((text) => text.includes('registry-token'))`
    expect((await runWith(JAVASCRIPT, source)).value).toBe(false)
    expect(registry.asked.some(({ authorization }) => authorization === 'Bearer registry-token-1234')).toBe(true)
  })

  test('may be a name and a password, also of PyPI, and is in no arguments', async () => {
    const seen: string[] = []
    registry.onAsked = () => {
      for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
        try {
          seen.push(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
        } catch {
          // It has just gone.
        }
      }
    }
    const other = await startRunner({
      RUNNER_DEPENDENCIES_DIR: join(folder, 'by-password'),
      NPM_REGISTRY: signedIn('us%40er:pass%2Fw%3Ard'),
      PYPI_INDEX_URL: registry.settings.PYPI_INDEX_URL.replace('://', "://us%40er:pass'w%3Ard@"),
    })
    for (const [language, name, password, argument] of [
      [JAVASCRIPT, 'good', 'pass/w:rd', 'npm-cli.js'],
      [PYTHON, 'simple', "pass'w:rd", '--target'],
    ] as const) {
      const spec = { language, dependencies: setOf({ [name]: '*' }), isInstall: true }
      expect((await other.replica.run('', { spec })).explanation).toBeUndefined()
      const basic = `Basic ${Buffer.from(`us@er:${password}`).toString('base64')}`
      expect(registry.asked.some(({ authorization }) => authorization === basic)).toBe(true)
      expect(seen.some((words) => words.includes(argument))).toBe(true)
    }
    await other.stop()
    registry.onAsked = () => {}
    expect(seen.filter((words) => /pass['/]w/.test(words))).toEqual([])
  })

  test.each([
    'ftp://secret@host',
    'secret',
    'https://sec%0Aret@host',
    'https://sec%ret@host',
    'https://secret@host/?x',
  ])('is not told where the address is refused: %s', (address) => {
    const env = new Environment({ NPM_REGISTRY: address })
    readRunnerConfig(env)
    expect(env.faults()).toEqual([expect.stringMatching(/^NPM_REGISTRY must /)])
    expect(JSON.stringify([env.faults(), env.settings()])).not.toMatch(/sec(%..)?ret/)
  })
})
