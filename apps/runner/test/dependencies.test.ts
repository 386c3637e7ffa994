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
import { lines } from './scripted-replica.ts'

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
      compiled: npmPackage(
        'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = 5; exports.six = 6',
      ),
      both: npmPackage(
        'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = exports.Five = class Five {}',
        { exports: { import: './index.mjs', require: './index.js' } },
        [{ path: 'package/index.mjs', text: 'export class Five {}\nexport { Five as default }' }],
      ),
      parts: npmPackage(
        'exports.all = 1',
        { exports: { './*': { import: './*.mjs', require: './*.js' }, './only/*': { import: './*.mjs' } } },
        [
          { path: 'package/one.js', text: 'exports.__esModule = true; exports.default = "one"' },
          { path: 'package/one.mjs', text: 'export default "one"' },
        ],
      ),
      marked: npmPackage('exports.__esModule = true; exports.default = 8', {}, [
        { path: 'package/package.json', text: '\uFEFF{"name":"marked","version":"1.0.0"}' },
      ]),
      growing: npmPackage('exports.grow = () => { exports[`name${Object.keys(exports).length}`] = true }'),
      torn: npmPackage('exports.a = 1\n\tconst = 2'),
      patient: npmPackage(
        'await new Promise((resolve) => setTimeout(resolve, 10))\nexport default 9\nexport const nine = 9',
        { type: 'module', exports: './index.js' },
      ),
      'patient-too': npmPackage('await 0\nexport default 1', { type: 'module', exports: './index.js' }),
      ungenerated: npmPackage("require('.prisma/client/default')"),
      unbuilt: npmPackage("require('../build/Release/unbuilt.node')"),
      unbound: npmPackage("throw new Error('Could not locate the bindings file. Tried:\\n → build/unbound.node')"),
      without: npmPackage("require('its-peer')"),
      'without-either': npmPackage("import 'its-peer'", { type: 'module', exports: './index.js' }),
      hasty: npmPackage('await 0\nthrow new TypeError("not today")', { type: 'module', exports: './index.js' }),
      'only-import': npmPackage('export default 7; export const seven = 7', {
        type: 'module',
        exports: { '.': { import: './index.js' } },
      }),
    },
    {
      roomy: {
        version: '1.0.0',
        entries: [
          { path: 'roomy/noise', noise: 100_000 },
          { path: 'roomy/zeros', zeros: 1_400_000 },
        ],
      },
      simple: { version: '2.0.0', entries: [{ path: 'simple/__init__.py', text: 'answer = lambda: 43\n' }] },
      chatty: {
        version: '1.0.0',
        entries: [
          {
            path: 'chatty/__init__.py',
            text: 'import logging\nlog = logging.getLogger(__name__)\ndef talk():\n  log.debug("headers")\n  log.info("said")\n',
          },
        ],
      },
    },
  )
  under = await startRunner({
    ...registry.settings,
    RUNNER_DEPENDENCIES_DIR: sets,
    NPM_REGISTRY: signedIn('registry-token-1234'),
  })
  usual[JAVASCRIPT] = setOf({
    ...{
      patient: '*',
      'patient-too': '*',
      hasty: '*',
      ungenerated: '*',
      unbuilt: '*',
      unbound: '*',
      without: '*',
      'without-either': '*',
    },
    ...{ good: '^1.0.0', 'only-import': '*', torn: '*', parts: '*' },
    ...{ compiled: '*', marked: '*', both: '*', growing: '*' },
  })
  usual[PYTHON] = setOf({ simple: '>=1,<3', chatty: '*' })
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

describe('what is installed', () => {
  test('is found by require, import and import() of JavaScript', async () => {
    const source = `import { answer } from 'good'; import seven from 'only-import'
      return [answer(), require('good').answer(), (await import('good')).answer(), seven]`
    expect((await runWith(JAVASCRIPT, source)).value).toEqual([42, 42, 42, 7])
  })

  test('is named with its line where it can not be read, and the import of it', async () => {
    const { log } = await runWith(JAVASCRIPT, "\nimport 'torn'")
    expect(log.at(-1)!.message).toMatch(
      /^SyntaxError: Unexpected token '='\n {4}at \/.*\/node_modules\/torn\/index\.js:2\n {4}at demo\.js:2:1$/,
    )
  })

  test('may have parts by a pattern, of one file for import and one for require or of one alone', async () => {
    const source = `import one from 'parts/one'; import same from 'parts/only/one'
      return [one, same]`
    expect((await runWith(JAVASCRIPT, source)).value).toEqual(['one', 'one'])
  })

  test('has a place that require.resolve and import.meta.resolve name, also of files that are no code', async () => {
    const source = `const { readFileSync } = await import('node:fs')
      const paths = [import.meta.resolve('good'), import.meta.resolve('only-import'), import.meta.resolve('good/data.txt')]
      return paths.map((each) => String(readFileSync(new URL(each))).slice(0, 14))`
    expect((await runWith(JAVASCRIPT, source)).value).toEqual(['exports.answer', 'export default', 'some data'])
    const { value } = await runWith(JAVASCRIPT, "return require.resolve('good/data.txt')")
    expect(value).toMatch(/^\/.*node_modules\/good\/data\.txt$/)
  })

  test('may be a module that was compiled to one with a default export of its own', async () => {
    const source = "import all, { six } from 'compiled'; return [all.default, six]"
    expect((await runWith(JAVASCRIPT, source)).value).toEqual([5, 6])
    expect((await runWith(JAVASCRIPT, "import all from 'marked'\nreturn all.default")).value).toBe(8)
  })

  test('has the default export of its module where it has one file for import and one for require', async () => {
    const source = `import Five, * as all from 'both'
      return [new Five() instanceof require('both').Five, all.default === Five, (await import('both')).default === Five]`
    expect((await runWith(JAVASCRIPT, source)).value).toEqual([true, true, true])
  })

  test('may wait at its top level, also in a child that imported it before', async () => {
    const importing = "import nine, * as all from 'patient'\nexport { nine as again } from 'patient'\n"
    for (const source of [importing, importing, '']) {
      const { value, log } = await runWith(JAVASCRIPT, `${source}return (await import('patient')).nine`)
      expect([value, log]).toEqual([9, []])
    }
    const { value } = await runWith(JAVASCRIPT, `${importing}return [nine, all.nine, all.default]`)
    expect(value).toEqual([9, 9, 9])
    const { explanation } = await runWith(JAVASCRIPT, "import 'hasty'")
    expect(explanation).toBe('TypeError: not today')
  })

  test('may wait at its top level where a module of the team imports it, which begins once', async () => {
    const modules = [
      { name: 'counts', sourceCode: 'globalThis.counted = (globalThis.counted ?? 0) + 1', imports: [] },
      {
        name: 'waits',
        sourceCode: "import 'counts'\nimport nine from 'patient'\nglobalThis.counted += 10\nexport default nine",
        imports: [{ name: 'counts', tag: '', module: 0 }],
      },
    ]
    const imports = [{ name: 'waits', tag: '', module: 1 }]
    const spec = { language: JAVASCRIPT, dependencies: usual[JAVASCRIPT]!, modules, imports }
    const { value } = await under.replica.run("import nine from 'waits'\nreturn [nine, globalThis.counted]", { spec })
    expect(value).toEqual([9, 11])
  })

  test.for([
    ["require('patient')", /top-level await\. Use import\(\) instead/],
    ["import * as late from 'late'\nreturn late.nine", /top-level await\. Use import\(\) instead/],
    ["return (await import('both')).default", 10],
  ] as const)('that waits at its top level begins no source twice: %s', async ([rest, expected]) => {
    const modules = [
      { name: 'late', sourceCode: "export { nine } from 'patient'", imports: [] },
      {
        name: 'both',
        sourceCode: "import a from 'patient'\nimport b from 'patient-too'\nexport default a + b",
        imports: [],
      },
    ]
    const imports = modules.map(({ name }, module) => ({ name, tag: '', module }))
    const spec = { language: JAVASCRIPT, dependencies: usual[JAVASCRIPT]!, modules, imports }
    const source = `console.log('begun')\n${rest}`
    // In a child that has loaded none of them before.
    const { value, explanation, log } = await under.replica.run(source, { spec: { ...spec, digest: randomUUID() } })
    if (typeof expected === 'number') expect(value).toBe(expected)
    else expect(explanation).toMatch(expected)
    expect(log.filter(({ message }) => message === 'begun')).toHaveLength(1)
  })

  test.for([
    ['ungenerated', "Error: Cannot find module '.prisma/client/default'; scripts of packages don't run"],
    ['unbuilt', "Error: Cannot find module '../build/Release/unbuilt.node'; scripts of packages don't run"],
    ['unbound', "Error: Could not locate the bindings file. Tried:; scripts of packages don't run"],
    ['without', "Error: Cannot find module 'its-peer'; to add a package, name it"],
    ['without-either', "Error: Cannot find package 'its-peer' imported from /"],
  ] as const)('says what to do where a part of it is missing: %s', async ([name, words]) => {
    for (const source of [`import '${name}'`, `await import('${name}')`]) {
      const { explanation } = await runWith(JAVASCRIPT, source)
      expect(explanation!.slice(0, words.length)).toBe(words)
      expect(explanation!.split('\n')[0]).toMatch(/; (?:to add a package, name it|scripts of packages don't run)/)
    }
  })

  test('has at each import the names that it exports by then, also in a child that imported it before', async () => {
    const source = "import * as all from 'growing'; all.grow(); return [Object.keys(all).length, process.pid]"
    const seen = new Map<number, number>()
    const runsAgain = async () => {
      const { value } = await runWith(JAVASCRIPT, source)
      await under.settled()
      const [names, pid] = value as [number, number]
      expect(names).toBe((seen.get(pid) ?? 1) + 1)
      seen.set(pid, names)
      return names > 2
    }
    await until(runsAgain, { what: 'a child has its second run' })
  })

  test('is found by import of Python', async () => {
    expect((await runWith(PYTHON, 'import simple\nreturn simple.answer()')).value).toBe(43)
  })

  test('of Python logs at DEBUG where the source asks for that', async () => {
    const logOf = async (source: string) => lines((await runWith(PYTHON, `import chatty, logging\n${source}`)).log)
    expect(await logOf('logging.debug("own")\nchatty.talk()')).toEqual(['DEBUG own', 'INFO said'])
    expect(await logOf('logging.basicConfig(format="%(message)s")\nchatty.talk()')).toEqual(['INFO said'])
    for (const asks of ['logging.getLogger()', 'logging.getLogger("chatty")'])
      expect(await logOf(`${asks}.setLevel(logging.DEBUG)\nchatty.talk()`)).toEqual(['DEBUG headers', 'INFO said'])
  })

  test('of Python may hand on records of any make', async () => {
    const source = `import chatty, logging
places = {"pathname": None}, {"name": 5, "pathname": chatty.__file__}, {"name": "once", "pathname": chatty.__file__}
for place in places:
  logging.root.handle(logging.makeLogRecord({"msg": "made", "levelno": logging.DEBUG, **place}))
return "once" in logging.root.manager.loggerDict`
    const { log, value, explanation } = await runWith(PYTHON, source)
    expect(explanation).toBeUndefined()
    expect([value, lines(log)]).toEqual([false, ['DEBUG made']])
  })

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
    ['npm', JAVASCRIPT, { nosuch: '*' }, /E404[\s\S]*nosuch/],
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
