import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Language } from '@automation/contract/common/v1/language'
import { until } from '@automation/testing'
import { littleRegistry, npmPackage } from '@automation/testing/little-registry'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import { lines } from './scripted-replica.ts'

const { JAVASCRIPT, PYTHON } = Language
const npmPackages = {
  good: npmPackage('exports.answer = () => 42', {}, [{ path: 'package/data.txt', text: 'some data' }]),
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
}
const now = 'import time\nnow = time.time_ns()\n'
const wheels = {
  matplotlib: {
    version: '1.0.0',
    entries: [
      { path: 'matplotlib/__init__.py', text: `${now}import os\nbackend = os.environ.get("MPLBACKEND")\n` },
      { path: 'matplotlib/font_manager.py', text: now },
      { path: 'matplotlib/pyplot.py', text: now },
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
}

const folder = mkdtempSync(join(tmpdir(), 'package-imports-test-'))
let registry: Awaited<ReturnType<typeof littleRegistry>>
let under: RunnerUnderTest
/** By language: one set of all packages. */
const usual = { [JAVASCRIPT]: setOf(npmPackages), [PYTHON]: setOf(wheels) }

beforeAll(async () => {
  registry = await littleRegistry(npmPackages, wheels)
  under = await startRunner({ ...registry.settings, RUNNER_DEPENDENCIES_DIR: join(folder, 'sets') })
  for (const language of [JAVASCRIPT, PYTHON] as const) {
    const spec = { language, dependencies: usual[language], isInstall: true }
    expect((await under.replica.run('', { spec })).explanation).toBeUndefined()
  }
})
afterAll(async () => {
  await under.stop()
  await registry.close()
  rmSync(folder, { recursive: true, force: true })
})

function setOf(packages: object) {
  return {
    key: randomUUID(),
    packages: Object.fromEntries(Object.keys(packages).map((name) => [name, '*'])),
    digest: '',
  }
}

const runWith = (language: keyof typeof usual, source: string) =>
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
    const spec = { language: JAVASCRIPT, dependencies: usual[JAVASCRIPT], modules, imports }
    const { value } = await under.replica.run("import nine from 'waits'\nreturn [nine, globalThis.counted]", { spec })
    expect(value).toEqual([9, 11])
  })

  test.for([
    ["require('patient')", /top-level await\. Use import\(\) instead/],
    ["import * as late from 'late'\nreturn late.nine", 9],
    ["import { patient } from 'whole'\nreturn patient.default", 9],
    ["return (await import('both')).default", 10],
  ] as const)('that waits at its top level begins no source twice: %s', async ([rest, expected]) => {
    const modules = [
      { name: 'late', sourceCode: "export { nine } from 'patient'", imports: [] },
      { name: 'whole', sourceCode: "export * as patient from 'patient'", imports: [] },
      {
        name: 'both',
        sourceCode: "import a from 'patient'\nimport b from 'patient-too'\nexport default a + b",
        imports: [],
      },
    ]
    const imports = modules.map(({ name }, module) => ({ name, tag: '', module }))
    const spec = { language: JAVASCRIPT, dependencies: usual[JAVASCRIPT], modules, imports }
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

  test.for([
    [
      'below a call',
      'import matplotlib\nmatplotlib.__name__\nimport matplotlib.font_manager as fonts\nreturn fonts.now',
    ],
    ['with what draws', 'import matplotlib\nmatplotlib.__name__\nfrom matplotlib import pyplot\nreturn pyplot.now'],
    ['in a function', 'def main():\n  from matplotlib import font_manager\n  return font_manager.now'],
  ] as const)('of Python that looks for fonts does so once for the runs of a version: %s', async ([, source]) => {
    const seen = new Set<unknown>()
    for (let count = 0; count < 3; count += 1) {
      const { value, explanation } = await runWith(PYTHON, source)
      await under.settled()
      expect(explanation).toBeUndefined()
      seen.add(value)
    }
    expect(seen.size).toBe(1)
  })

  test('of Python that looks for fonts has the settings that its source makes before it', async () => {
    const source =
      'import os\nos.environ["MPLBACKEND"] = "svg"\nimport matplotlib\nfrom matplotlib import pyplot\nreturn matplotlib.backend'
    for (let count = 0; count < 2; count += 1) {
      expect((await runWith(PYTHON, source)).value).toBe('svg')
      await under.settled()
    }
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
})
