import { describe, expect, test } from 'vitest'
import { executeSync, makeProcess, makeWebhook, runCode, valueOf } from './runs.ts'
import { client, shared } from './shared-system.ts'

describe('the forms of JavaScript code', () => {
  test.for([
    ['a top-level return', 'return 1 + 1', 2],
    ['top-level await', 'const n = await Promise.resolve(20); return n + 1', 21],
    ['a returned promise', 'return Promise.resolve(3)', 3],
    ['nothing', '', null],
    ['only a comment', '// nothing', null],
    ['undefined', 'return', null],
    ['module.exports.main', 'module.exports = { main: () => 4 }', 4],
    ['exports.main', 'exports.main = async () => 5', 5],
    ['async main', 'module.exports = { async main() { await null; return 6 } }', 6],
    ['main without arguments', 'module.exports = { main: (...args) => args.length }', 0],
    ['return before main', 'module.exports = { main: () => 1 }; return 7', 7],
    ['return null before main', 'module.exports = { main: () => 1 }; return null', null],
    ['an exported main', 'export function main() { return 8 }', 8],
    ['an exported async main', 'export const main = async () => 9', 9],
    ['import of a builtin', "import { basename } from 'node:path'\nreturn basename('/a/b')", 'b'],
    ['default import', "import path from 'path'\nexport const main = () => path.extname('a.js')", '.js'],
    ['namespace import', "import * as os from 'os'\nreturn typeof os.cpus", 'function'],
    [
      'require',
      "const { createHash } = require('crypto'); return createHash('md5').update('').digest('hex').length",
      32,
    ],
    ['import and require together', "import fs from 'fs'\nreturn require('fs') === fs", true],
    ['dynamic import', "return (await import('node:url')).URL === URL", true],
    ['import.meta or not, svc is global', 'return typeof svc.context', 'object'],
    ['import svc', "import svc from 'svc'\nreturn svc.execution.process.id.length", 36],
    ['import { context }', "import { context } from 'svc'\nreturn context.parameters", {}],
    ['require svc', "return require('svc') === svc", true],
    ['destructured require', "const { team } = require('svc'); return team.slug", shared.main.team],
    ['own const named svc', 'const svc = 5; return svc', 5],
    ['this-less strictness does not matter', 'var a = 1; function f() { return a } return f()', 1],
    ['sloppy mode or strict, both names work', 'let module_ = 1; return module_', 1],
    ['return inside nested functions', 'const f = () => { return 2 }; return f()', 2],
    ['return in a loop', 'for (const x of [1, 2, 3]) { if (x === 2) return x }', 2],
    ['try, finally', 'try { return 1 } finally { console.log("done") }', 1],
    ['template with return', 'return `return ${1}`', 'return 1'],
    ['hashbang', '#!/usr/bin/env node\nreturn 1', 1],
    ['CRLF lines', 'const a = 1\r\nreturn a\r\n', 1],
    ['a byte order mark', '\ufeffreturn 1', 1],
    ['unicode', 'const größe = "ü🙂"; return größe', 'ü🙂'],
    ['a class', 'class A { #x = 1; get x() { return this.#x } } return new A().x', 1],
    ['generators', 'function* g() { yield 1; yield 2 } return [...g()]', [1, 2]],
    ['await in a loop', 'let n = 0; for await (const x of [Promise.resolve(1), 2]) n += x; return n', 3],
    [
      'fetch, URL, timers, structuredClone',
      'return [typeof fetch, typeof URL, typeof setTimeout, typeof structuredClone]',
      ['function', 'function', 'function', 'function'],
    ],
  ] as const)('%s', async ([, source, value]) => {
    expect(await valueOf(source)).toEqual(value)
  })

  test('main is called once', async () => {
    const { logs } = await runCode('module.exports = { main() { console.log("called") } }')
    expect(logs.filter(({ message }) => message === 'called')).toHaveLength(1)
  })

  test.for([
    ['a syntax error', 'const = 5', /^SyntaxError: /],
    ['an unknown package', "require('no-such-package-at-all')", /no-such-package-at-all/],
    ['an unknown import', "import x from 'no-such-package-at-all'\nreturn x", /no-such-package-at-all/],
    ['a bracket that closes the wrapper', '}); return 1; (() => {', /^SyntaxError: /],
  ] as const)('%s is an ERROR that says so', async ([, source, explanation]) => {
    const { execution } = await runCode(source)
    expect(execution.status).toBe('ERROR')
    expect(execution.timeline.events.at(-1)?.explanation).toMatch(explanation)
  })

  test('a process can be stored with a syntax error and mended', async () => {
    const process = await makeProcess({ sourceCode: 'return (' })
    expect((await executeSync(process)).status).toBe(500)
    await client.patch(`/processes/${process.id}`, { sourceCode: 'return (1)' })
    expect((await executeSync(process)).body).toBe(1)
  })
})

describe('what code sees', () => {
  test('its execution, process and team', async () => {
    const process = await makeProcess({ sourceCode: 'return { execution: svc.execution, team: svc.team }' })
    const answer = await executeSync(process, { comment: 'seen' })
    expect(answer.body).toEqual({
      execution: {
        id: answer.headers.get('svc-execution-id'),
        comment: 'seen',
        process: { id: process.id, name: process.name, slug: process.slug },
        timezone: expect.any(String),
      },
      team: { slug: shared.main.team, timezone: expect.any(String) },
    })
  })

  test('no request outside webhooks, and the request in them', async () => {
    const source = 'return svc.context.request ? svc.context.request.method : "none"'
    expect(await valueOf(source)).toBe('none')
    const { slug } = await makeWebhook(source)
    expect((await client.webhook('POST', slug)).text).toBe('POST')
  })

  test.skipIf(!shared.owned)('a second name of the global works, as global and as package', async () => {
    expect(await valueOf("return [acme === svc, require('acme') === svc]")).toEqual([true, true])
    expect(await valueOf("import { team } from 'acme'\nreturn team.slug")).toBe(shared.main.team)
  })

  test('nothing of the service in its environment, arguments or parent', async () => {
    const shown = JSON.stringify(await valueOf('return [process.env, process.argv, process.execArgv]'))
    for (const secret of [
      'DATABASE_URL',
      'INTERNAL_KEY',
      'ENCRYPTION_KEY',
      'BOOTSTRAP',
      'RUNNER_KEY',
      'postgres',
      shared.main.apiToken,
    ])
      expect(shown).not.toContain(secret)
  })

  test('a private directory that is gone after the run', async () => {
    const source = `const fs = require('fs'), path = require('path')
      const file = path.join(process.env.TMP_DATA_DIR, 'a.txt'); fs.writeFileSync(file, 'x')
      return [process.env.TMP_DATA_DIR, fs.readdirSync(process.env.TMP_DATA_DIR)]`
    const process = await makeProcess({ sourceCode: source })
    const [first, second] = [
      await executeSync<[string, string[]]>(process),
      await executeSync<[string, string[]]>(process),
    ]
    expect(first.body[1]).toEqual(['a.txt'])
    expect(second.body[1]).toEqual(['a.txt'])
    // In isolation each child has a directory of its own by the same name.
    const seen = `try { return require('fs').readdirSync(${JSON.stringify(first.body[0])}) } catch { return [] }`
    expect(first.body[0] === second.body[0] ? [] : await valueOf(seen)).not.toContain('a.txt')
  })

  test.for([
    ['globals', 'const before = globalThis.left ?? null; globalThis.left = 1; return before', null],
    ['var and functions', 'const before = typeof left; var left = 1; return before', 'undefined'],
    ['module state', 'exports.n = (exports.n ?? 0) + 1; return exports.n', 1],
    ['environment', 'const before = process.env.LEFT ?? null; process.env.LEFT = "1"; return before', null],
    ['changed built-ins', 'const before = [].left ?? null; Array.prototype.left = 1; return before', null],
    ['changed JSON', 'const before = JSON.parse("1"); JSON.parse = () => 9; return before', 1],
    [
      'the working directory',
      'const before = process.cwd(); process.chdir("/"); return before === "/" ? "moved" : "kept"',
      'kept',
    ],
    ['listeners', 'const before = process.listenerCount("left"); process.on("left", () => {}); return before', 0],
    [
      'timers',
      'const before = globalThis.ticks ?? 0; setInterval(() => { globalThis.ticks = 1 }, 1); return before',
      0,
    ],
    ['core modules', 'const fs = require("fs"); const before = fs.left ?? null; fs.left = 1; return before', null],
    ['parameters', 'const before = svc.left ?? null; try { svc.left = 1 } catch {} return before', null],
  ] as const)('a run sees nothing that the run before left behind: %s', async ([, source, value]) => {
    const process = await makeProcess({ sourceCode: source })
    for (let n = 0; n < 4; n += 1) expect((await executeSync(process)).body).toEqual(value)
  })

  test('freshProcess gives each run a process of its own', async () => {
    const process = await makeProcess({ sourceCode: 'return process.pid' })
    const input = { settings: { freshProcess: true } }
    const pids = [
      await executeSync(process, input),
      await executeSync(process, input),
      await executeSync(process, input),
    ]
    expect(new Set(pids.map(({ body }) => body)).size).toBe(3)
  })
})
