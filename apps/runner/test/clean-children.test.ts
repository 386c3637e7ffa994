import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { promisify } from 'node:util'
import { listening, type Listening } from '@automation/testing/listening'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startRunner, startRunnerWith, type RunnerUnderTest } from './runner-under-test.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  under = await startRunner()
})
afterAll(() => under.stop())

const run = (source: string, options = {}) => under.replica.run(source, options)

/** Runs a source twice that tells whether it finds traces of itself, and in which process it ran. */
async function twice(source: string): Promise<{ traces: unknown[]; sameChild: boolean }> {
  const first = await run(`${source}\nreturn [trace, process.pid]`)
  await under.settled()
  const second = await run(`${source}\nreturn [trace, process.pid]`)
  expect(first.explanation ?? second.explanation).toBeUndefined()
  const [one, two] = [first.value as [unknown, number], second.value as [unknown, number]]
  return { traces: [one[0], two[0]], sameChild: one[1] === two[1] }
}

const putBack: [guarantee: string, source: string][] = [
  ['globals by assignment', 'const trace = typeof leaked; leaked = 1'],
  ['globals by name', 'const trace = typeof globalThis.leaked; globalThis.leaked = 1'],
  ['svc with another value', 'const trace = typeof svc; svc = 1'],
  ['module state', 'let count = 0; count += 1; const trace = count'],
  ['what a module exports', 'const trace = Object.keys(module.exports).length; exports.a = 1'],
  ['environment variables', 'const trace = process.env.LEAKED; process.env.LEAKED = "1"; delete process.env.PATH'],
  ['the working directory', 'const trace = require("path").dirname(process.cwd()); process.chdir("/")'],
  ['the umask', 'const trace = process.umask(0o777)'],
  [
    'listeners',
    'const trace = process.listenerCount("exit") + process.listenerCount("SIGUSR2"); process.on("exit", () => {}); process.on("SIGUSR2", () => {})',
  ],
  [
    'listeners that were removed',
    'const trace = process.listenerCount("uncaughtException"); process.removeAllListeners()',
  ],
  [
    'timers',
    'globalThis.seen ??= 0; const trace = globalThis.seen; setInterval(() => { globalThis.seen = 1 }, 1); setTimeout(() => {}, 1).unref()',
  ],
  [
    'files in the private directory',
    'const fs = require("fs"), d = process.env.TMP_DATA_DIR; const trace = fs.readdirSync(d).length; fs.writeFileSync(d + "/a", "x"); fs.mkdirSync(d + "/b/c", { recursive: true })',
  ],
  [
    'files beside it',
    'const fs = require("fs"); const trace = fs.readdirSync("..").length; fs.writeFileSync("../a", "x")',
  ],
  [
    'a private directory that was removed',
    'const fs = require("fs"); const trace = fs.existsSync(process.env.TMP_DATA_DIR); fs.rmdirSync(process.env.TMP_DATA_DIR)',
  ],
  ['the stack trace limit', 'const trace = Error.stackTraceLimit; Error.stackTraceLimit = 1'],
  ['the exit code', 'const trace = process.exitCode; process.exitCode = 5'],
  ['groups and counters of console', 'const trace = 0; console.group("a"); console.count()'],
  [
    'cryptography that is done at once',
    'const trace = require("crypto").randomBytes(4).length + crypto.randomUUID().length',
  ],
  [
    'an async context',
    'const { AsyncLocalStorage } = require("async_hooks"); const s = globalThis.als ??= new AsyncLocalStorage(); const trace = s.getStore(); s.enterWith(1)',
  ],
]

describe('what a run leaves behind is put back, and the child goes on', () => {
  test.for(putBack)('%s', async ([, source]) => {
    const { traces, sameChild } = await twice(source)
    expect(traces[1]).toEqual(traces[0])
    expect(sameChild).toBe(true)
  })
})

const connectionsOf = async (server: Server) => promisify(server.getConnections.bind(server))()

describe('connections that HTTP clients keep are closed, and the child goes on', () => {
  const server = createServer((_, response) => response.end('answer'))
  let at: Listening
  beforeAll(async () => {
    at = await listening(server)
  })
  afterAll(() => at.close())

  test.for([
    ['fetch', 'const trace = await (await fetch(ADDRESS)).text()'],
    ['fetch without reading', 'const trace = (await fetch(ADDRESS)).status'],
    ['fetch beside globals by name', 'globalThis.seen = 1; const trace = await (await fetch(ADDRESS)).text()'],
    [
      'http.get',
      'const trace = await new Promise((r) => require("http").get(ADDRESS, (a) => a.resume().on("end", () => r(a.statusCode))))',
    ],
  ])('%s', async ([, source]) => {
    const { traces, sameChild } = await twice(source!.replace('ADDRESS', JSON.stringify(at.url)))
    expect(traces[0]).toBeTruthy()
    expect(traces[1]).toEqual(traces[0])
    expect(sameChild).toBe(true)
    await until(() => connectionsOf(server).then((count) => count === 0))
  })
})

const retiring: [guarantee: string, source: string][] = [
  ['a property of what literals reach', 'const trace = [].leaked; Array.prototype.leaked = 1'],
  ['a changed method', 'const trace = [].map.toString().length; Array.prototype.map = function map() { return 1 }'],
  ['a symbol on a prototype', 'const key = Symbol.for("k"); const trace = {}[key]; Object.prototype[key] = 1'],
  [
    'flags of a property',
    'const trace = Object.getOwnPropertyDescriptor(Array.prototype, "at").writable; Object.defineProperty(Array.prototype, "at", { writable: false })',
  ],
  ['a hidden property', 'const trace = [].hidden; Object.defineProperty(Array.prototype, "hidden", { value: 1 })'],
  ['a frozen prototype', 'const trace = Object.isFrozen(RegExp.prototype); Object.freeze(RegExp.prototype)'],
  ['a removed method', 'const trace = typeof "".at; delete String.prototype.at'],
  [
    'another prototype',
    'const trace = Object.getPrototypeOf(Number.prototype) === Object.prototype; Object.setPrototypeOf(Number.prototype, { a: 1 })',
  ],
  ['a global function', 'const trace = typeof parseInt("1"); parseInt = () => "no"'],
  ['a lazy global', 'const trace = typeof Headers.prototype.leaked; Headers.prototype.leaked = 1'],
  ['a static method', 'const trace = typeof JSON.leaked; JSON.leaked = 1'],
  ['a prototype of a collection', 'const trace = new Map().leaked; Map.prototype.leaked = 1'],
  ['a built-in module', 'const fs = require("fs"); const trace = fs.leaked; fs.leaked = 1'],
  [
    'a class of a built-in module',
    'const { EventEmitter } = require("events"); const trace = EventEmitter.prototype.leaked; EventEmitter.prototype.leaked = 1',
  ],
  [
    'a default of a class',
    'const { EventEmitter } = require("events"); const trace = EventEmitter.defaultMaxListeners; Object.assign(EventEmitter, { leaked: 1 })',
  ],
  ['console', 'const trace = console.leaked; console.leaked = 1'],
  ['a patched console method', 'const trace = String(console.log).length; console.log = () => {}'],
  ['process', 'const trace = process.leaked; process.leaked = 1'],
  ['the stack trace function', 'const trace = typeof Error.prepareStackTrace; Error.prepareStackTrace = () => "x"'],
  ['an open file', 'const trace = 0; require("fs").openSync("/etc/passwd")'],
  ['an unreferenced server', 'const trace = 0; require("net").createServer().listen(0).unref()'],
  [
    'a subprocess',
    'const trace = 0; require("child_process").spawn("sleep", ["50"], { detached: true, stdio: "ignore" }).unref()',
  ],
  [
    'a worker',
    'const { Worker } = require("worker_threads"); const trace = 0; new Worker("0", { eval: true }).unref()',
  ],
  ['a pending read', 'const trace = 0; require("fs").readFile("/dev/zero", () => {})'],
]

describe('anything else ends the child, and the next run gets another', () => {
  test.for(retiring)('%s', async ([, source]) => {
    const { traces, sameChild } = await twice(source)
    expect(traces[1]).toEqual(traces[0])
    expect(sameChild).toBe(false)
  })
})

const changes = {
  'a method': 'Array.prototype.map = () => []',
  'a global': 'parseInt = () => 0',
  'a function of a module': 'fs.readFileSync = () => ""',
  'a property of a module': 'fs.leaked = 1',
  'a symbol on a function of a module': 'fs.readFile[promisify.custom] = () => ""',
  'a constant of a module': 'delete os.EOL; os.EOL = "x"',
  'a method of a class': 'EventEmitter.prototype.on = () => {}',
  'a method that is removed': 'delete EventEmitter.prototype.off',
}
const changing = `
  const fs = require('fs'), os = require('os'), { promisify } = require('util'), { EventEmitter } = require('events')
  switch (svc.context.parameters.change) {
    ${Object.values(changes)
      .map((code, index) => `case ${index}: ${code}; break`)
      .join('\n')}
  }
  return process.pid`

// The source has none of the words for which all is looked at closely.
test.for(Object.keys(changes).map((name, index) => [name, index] as const))(
  '%s ends a child that nothing has changed for long',
  async ([, change]) => {
    const pid = async (parameters: object) => {
      await under.settled()
      return (await run(changing, { parameters })).value
    }
    const pids = []
    for (let each = 0; each < 12; each += 1) pids.push(await pid({}))
    expect(new Set([...pids, await pid({ change })]).size).toBe(1)
    expect(pids).not.toContain(await pid({}))
  },
)

test('functions of the language are frozen, so that nothing can be hung onto them', async () => {
  const { value } = await run(
    'try { (function () { "use strict"; Array.prototype.map.leaked = 1 })() } catch (e) { return e.name }',
  )
  expect(value).toBe('TypeError')
})

test('the private directory is gone under its name after the run', async () => {
  const source =
    'require("fs").writeFileSync("a", "b"); return [process.cwd(), process.env.TMP_DATA_DIR, process.env.HOME, require("os").tmpdir()]'
  const { value } = await run(source)
  const [directory, ...others] = value as string[]
  expect(others).toEqual([directory, directory, directory])
  await under.settled()
  expect(existsSync(directory!)).toBe(false)
  const again = (await run(source)).value as string[]
  expect(again[0]).not.toBe(directory)
})

test('freshProcess gives each run a new child', async () => {
  const pid = async (freshProcess: boolean) => {
    await under.settled()
    return (await run('return process.pid', { run: { freshProcess } })).value
  }
  const pids = [await pid(false), await pid(true), await pid(true), await pid(false)]
  expect(new Set(pids).size).toBe(3)
  expect(pids[0]).toBe(pids[3])
})

test('two versions and two teams never share a process', async () => {
  const pid = async (spec: object) => (await run('return process.pid', { spec })).value
  const pids = [await pid({ digest: 'a' }), await pid({ digest: 'b' }), await pid({ digest: 'a', team: 'other' })]
  expect(new Set(pids).size).toBe(3)
})

test('a child is replaced after its number of runs', async () => {
  const other = await startRunnerWith({ children: { maxRuns: 3 } })
  const pids = []
  for (let each = 0; each < 6; each += 1) {
    await other.settled()
    pids.push((await other.replica.run('return process.pid')).value)
  }
  await other.stop()
  expect(new Set(pids.slice(0, 3)).size).toBe(1)
  expect(new Set(pids).size).toBe(2)
})
