import { Language } from '@automation/contract/common/v1/language'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'

let under: RunnerUnderTest
beforeAll(async () => (under = await startRunner()))
afterAll(() => under.stop())

interface Source {
  name: string
  sourceCode: string
  tag?: string
  team?: string
  imports?: { name: string; tag?: string; module: number }[]
}

/** Runs a process that imports each of these by its name, and its tag where it has one. */
function run(source: string, modules: Source[], language = Language.JAVASCRIPT) {
  const imports = modules.map(({ name, tag }, module) => ({ name, tag: tag ?? '', module }))
  return under.replica.run(source, { spec: { language, imports, modules, digest: JSON.stringify(modules) } })
}

const python = (source: string, modules: Source[]) => run(source, modules, Language.PYTHON)

const placesIn = (text: string) => Array.from(text.matchAll(/^ +at (?:.* \()?(.*?)\)?$/gm), ([, place]) => place)

describe('JavaScript', () => {
  test('all ways to import give the exports, of a module of either kind', async () => {
    const modules = [
      { name: 'old', sourceCode: 'exports.add = (a, b) => a + b' },
      { name: 'new', sourceCode: 'export const one = 1\nexport default function two() { return 2 }' },
    ]
    const required = 'return [require("old").add(1, 2), svc.import("new").one, (await import("new")).default()]'
    expect((await run(required, modules)).value).toEqual([3, 1, 2])
    const imported =
      'import old, { add } from "old"\nimport two, * as all from "new"\nreturn [old.add(1, 1), add(1, 2), two(), all.one]'
    expect((await run(imported, modules)).value).toEqual([2, 3, 2, 1])
  })

  test('a tag gives that version, beside the current one', async () => {
    const modules = [
      { name: 'lib', sourceCode: 'module.exports = "now"' },
      { name: 'lib', tag: 'v1', sourceCode: 'module.exports = "then"' },
    ]
    expect((await run('return [svc.import("lib"), svc.import("lib", "v1")]', modules)).value).toEqual(['now', 'then'])
  })

  test('the state of a module ends with the run, in the same child', async () => {
    const modules = [{ name: 'count', sourceCode: 'let n = 0; exports.next = () => ++n' }]
    const source = 'const { next } = require("count"); next(); require("count").next(); return [next(), process.pid]'
    const [first] = [(await run(source, modules)).value as number[]]
    await under.settled()
    expect((await run(source, modules)).value).toEqual([3, first![1]])
  })

  test('a module that changes what all runs share ends the child', async () => {
    const modules = [{ name: 'bad', sourceCode: 'Array.prototype.leaked = 1' }]
    await run('require("bad")', modules)
    await under.settled()
    expect((await run('const seen = [].leaked ?? null; require("bad"); return seen', modules)).value).toBeNull()
  })

  test('a stack names the module and its own line', async () => {
    const modules = [
      { name: 'lib', tag: 'v1', team: 'core', sourceCode: '\nexports.fail = () => {\n  throw new Error("no")\n}' },
    ]
    const { explanation, log } = await run('\nsvc.import("lib", "v1").fail()', modules)
    expect(explanation).toBe('Error: no')
    expect(log.at(-1)!.message).toMatch(/at .*modules\/core\/lib@v1\.js:3:9\)?\n.*demo\.js:2:/)
  })

  test('one that is not there is an ERROR that says which', async () => {
    expect((await run('require("gone")', [])).explanation).toMatch(
      /^Error: Cannot find module 'gone'; to add a package/,
    )
    expect((await run('svc.import("gone", "v9")', [])).explanation).toMatch(
      "Cannot find module 'gone' with the version or alias 'v9'",
    )
  })

  test.for([
    ['a team module', 'require("pric-ing")', "Cannot find module 'pric-ing'; did you mean 'pricing'?"],
    ['a team module by svc.import', 'svc.import("prcing")', "did you mean 'pricing'?"],
    ['one of Node', 'require("fss")', "Cannot find module 'fss'; did you mean 'fs'"],
    [
      'one of Node with its prefix',
      'require("node:cripto")',
      "Cannot find module 'node:cripto'; did you mean 'node:crypto'?",
    ],
    ['an import', 'import a from "pricin"', "Cannot find package 'pricin'; did you mean 'pricing'?"],
    ['an import for later', 'await import("pricin")', "did you mean 'pricing'? To add a package"],
    ['a package', 'require("left-pad")', 'settings.dependencies.autoDetect'],
    ['a file', 'require("./pricing.js")', "did you mean 'pricing'? A source has no files beside it"],
  ] as const)('a misspelt name of %s leads to the right one', async ([, source, words]) => {
    const { explanation } = await run(source, [{ name: 'pricing', sourceCode: '' }])
    expect(explanation).toContain(words)
  })

  test('a name that is put together at run time is told to be none, and one that stands there is not', async () => {
    const told = '; a module of the team is found where an import has its name as a literal'
    for (const load of ['await import', 'require', 'require.resolve']) {
      expect((await run(`const name = "live"; ${load}(name)`, [])).explanation).toContain(told)
      expect((await run(`${load}( "live")`, [])).explanation).not.toContain(told)
    }
    expect((await run('import "live"', [])).explanation).not.toContain(told)
    const modules = [{ name: 'lib', sourceCode: 'require("li" + "ve")' }]
    expect((await run('import "lib"; require("live")', modules)).explanation).toContain(told)
  })

  test('one of the team that the source does not import comes near, too; a version that is not there names those that are', async () => {
    const unmetImports = [
      { name: 'prcing', near: ['pricing'] },
      { name: 'pricing', tag: 'v9', versions: ['v2', 'v1'] },
      { name: 'modx', tag: 'v7', near: ['modo'], hasNoVersions: true },
    ]
    const words = [
      "Cannot find module 'prcing'; did you mean 'pricing'?",
      "or alias 'v9': there are 'v2', 'v1'",
      'modx has no versions',
    ]
    for (const [at, source] of [
      'require("prcing")',
      'svc.import("pricing", "v9")',
      'svc.import("modx", "v7")',
    ].entries()) {
      const spec = { unmetImports, digest: `unmet ${at}` }
      expect((await under.replica.run(source, { spec })).explanation).toContain(words[at])
    }
    const spec = { unmetImports, language: Language.PYTHON }
    expect((await under.replica.run('import prcing', { spec })).explanation).toContain("did you mean 'pricing'?")
    const { explanation } = await under.replica.run('svc.import_module("pricing", "v9")', { spec })
    expect(explanation).toContain(words[1])
    expect((await under.replica.run('svc.import_module("modx", "v7")', { spec })).explanation).toContain(words[2])
  })

  test('one that is not there keeps its code, for who does without it', async () => {
    const source = 'try { require("gone") } catch (error) { return [error.code, error.name, error instanceof Error] }'
    expect((await run(source, [])).value).toEqual(['MODULE_NOT_FOUND', 'Error', true])
    const later = 'return import("gone").catch(({ code }) => code)'
    expect((await run(later, [])).value).toBe('MODULE_NOT_FOUND')
  })

  test('a fault of its syntax names its line, when it is imported', async () => {
    const modules = [{ name: 'torn', sourceCode: '\nconst = 1' }]
    const { log } = await run('require("torn")', modules)
    expect(log.at(-1)!.message).toMatch(/SyntaxError.*\n.*modules\/torn\.js:2/)
    expect((await run('return 1', modules)).value).toBe(1)
  })

  test.for([
    ['an error', 'const a = 1\n\nexport const port = a.b.c', 'TypeError: Cannot read', ['modules/lib.js:3:25']],
    ['its syntax', 'export const port = 1\nconst = 1', 'SyntaxError: Unexpected token', ['modules/lib.js:2:7']],
    ['an await', 'export const port = 1\nawait port', 'SyntaxError: await is only valid', ['modules/lib.js:2']],
    ['an export that is not there', '\nimport { no } from "fs"', "export named 'no'", ['modules/lib.js:2:1']],
    ['a package that is not there', '\nimport no from "pad"', "Cannot find package 'pad'", ['modules/lib.js:2:1']],
    ['a text that is thrown', 'throw "plain text"', 'Error: plain text', []],
    ['nothing that is thrown', 'throw null', 'Error: null', []],
  ] as const)(
    '%s while it loads names its own line, then those that import it',
    async ([, sourceCode, words, places]) => {
      const modules = [
        { name: 'lib', sourceCode },
        { name: 'outer', sourceCode: '\n\nimport "lib"', imports: [{ name: 'lib', module: 0 }] },
      ]
      const source = '\nimport { port } from "lib"'
      const { explanation, log } = await run(source, modules)
      expect(explanation).toContain(words)
      expect(placesIn(log.at(-1)!.message)).toEqual(places.flatMap((place) => [place, 'demo.js:2:1']))
      const through = await run('import "outer"', modules)
      expect(through.explanation).toBe(explanation)
      const all = places.flatMap((place) => [place, 'modules/outer.js:3:1', 'demo.js:1:1'])
      expect(placesIn(through.log.at(-1)!.message)).toEqual(all)
    },
  )

  test('modules that import each other find what is there already', async () => {
    const modules = [
      {
        name: 'a',
        sourceCode: 'import { b } from "b"\nexport function a() { return "a" }\nexport const both = () => a() + b()',
        imports: [{ name: 'b', module: 1 }],
      },
      {
        name: 'b',
        sourceCode: 'import { a } from "a"\nexport const b = () => "b" + a()',
        imports: [{ name: 'a', module: 0 }],
      },
    ]
    expect((await run('return require("a").both()', modules)).value).toBe('aba')
  })

  test('what is imported as a whole shows what its module sets later, also of modules that import each other', async () => {
    const modules = [
      {
        name: 'a',
        sourceCode: 'import * as b from "b"\nexport let a = 1\nexport const init = () => (a = b.b + 1)',
        imports: [{ name: 'b', module: 1 }],
      },
      {
        name: 'b',
        sourceCode: 'import * as a from "a"\nexport const b = 2\nexport const ofA = () => a.a',
        imports: [{ name: 'a', module: 0 }],
      },
    ]
    const source = 'import * as a from "a"\nimport { ofA } from "b"\na.init()\nreturn [a.a, ofA()]'
    expect((await run(source, modules)).value).toEqual([3, 3])
  })

  test('svc.import in a module means what that module means', async () => {
    const modules = [
      { name: 'tools', sourceCode: 'module.exports = "own"' },
      {
        name: 'lib',
        sourceCode: 'module.exports = [require("tools"), svc.import("tools"), svc.context.parameters.n]',
        imports: [{ name: 'tools', module: 2 }],
      },
      { name: 'theirs', sourceCode: 'module.exports = "of the parent"' },
    ]
    const { value } = await under.replica.run('return [require("tools"), ...require("lib")]', {
      parameters: { n: 1 },
      spec: {
        imports: [
          { name: 'tools', module: 0 },
          { name: 'lib', module: 1 },
        ],
        modules,
        digest: 'scopes',
      },
    })
    expect(value).toEqual(['own', 'of the parent', 'of the parent', 1])
  })

  test('what can not be had is told before any code runs', async () => {
    const { explanation, log } = await under.replica.run('console.log("ran")', {
      spec: { modulesFault: 'too many', digest: 'f' },
    })
    expect(explanation).toBe('Error: too many')
    expect(log.length).toBe(1)
  })
})

describe('Python', () => {
  test('all ways to import give the module, dotted names too', async () => {
    const modules = [
      { name: 'util', sourceCode: 'def add(a, b):\n    return a + b' },
      { name: 'shapes.circle', sourceCode: 'import util\nPI = util.add(1, 2)', imports: [{ name: 'util', module: 0 }] },
    ]
    const source =
      'import util as u, shapes.circle\nfrom shapes.circle import PI\nreturn [u.add(1, 1), shapes.circle.PI, PI, svc.import_module("util") is u]'
    expect((await python(source, modules)).value).toEqual([2, 3, 3, true])
  })

  test('a tag gives that version, beside the current one; names with dashes too', async () => {
    const modules = [
      { name: 'my-lib', sourceCode: 'x = "now"' },
      { name: 'my-lib', tag: 'v1', sourceCode: 'x = "then"' },
    ]
    const source = 'return [svc.import_module("my-lib").x, svc.importModule("my-lib", tagOrAlias="v1").x]'
    expect((await python(source, modules)).value).toEqual(['now', 'then'])
  })

  test("Python's own come first", async () => {
    const modules = [{ name: 'json', sourceCode: 'mine = 1' }]
    expect((await python('import json\nreturn hasattr(json, "mine")', modules)).value).toBe(false)
  })

  test('a stack names the module and its own line; one that is not there says which', async () => {
    const modules = [{ name: 'lib', sourceCode: '\ndef fail():\n    raise ValueError("no")' }]
    const { explanation, log } = await python('import lib\nlib.fail()', modules)
    expect(explanation).toBe('ValueError: no')
    expect(log.at(-1)!.message).toContain('File "modules/lib.py", line 3, in fail\n    raise ValueError("no")')
    expect((await python('import gone', [])).explanation).toMatch(
      /^ModuleNotFoundError: No module named 'gone'; to add a package, name it in .* settings\.dependencies\.autoDetect$/,
    )
    expect((await python('svc.import_module("gone", "v9")', [])).explanation).toContain(
      "'gone' with the version or alias 'v9'",
    )
  })

  test.for([
    ['a team module', 'import pricin', "No module named 'pricin'; did you mean 'pricing'? To add a package"],
    ['a team module by svc.import_module', 'svc.import_module("pricin")', "did you mean 'pricing'?"],
    ["one of Python's own", 'import jsom', "No module named 'jsom'; did you mean 'json'?"],
  ] as const)('a misspelt name of %s leads to the right one', async ([, source, words]) => {
    const { explanation, log } = await python(source, [{ name: 'pricing', sourceCode: '' }])
    expect(explanation).toContain(words)
    expect(log.at(-1)!.message).toContain(words)
  })

  test('one that is not there keeps its class and name, for who does without it', async () => {
    const source = 'try:\n    import gone\nexcept ModuleNotFoundError as error:\n    return [error.name, str(error)]'
    expect((await python(source, [])).value).toEqual(['gone', "No module named 'gone'"])
  })

  test('one name may mean different modules to those that import it', async () => {
    const modules = [
      { name: 'util', sourceCode: 'x = "own"' },
      {
        name: 'lib',
        sourceCode: 'import util\nx = [util.x, svc.import_module("util").x]',
        imports: [{ name: 'util', module: 2 }],
      },
      { name: 'theirs', sourceCode: 'x = "of the parent"' },
    ]
    const { value } = await under.replica.run('import util, lib\nreturn [util.x, *lib.x]', {
      spec: {
        language: Language.PYTHON,
        imports: ['util', 'lib'].map((name, module) => ({ name, module })),
        modules,
        digest: 'scopes',
      },
    })
    expect(value).toEqual(['own', 'of the parent', 'of the parent'])
  })
})
