import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from '../runner-under-test.ts'

/** `goes on`: it is put back, and the same child takes the next run. `ends`: the next run gets another child. */
type Fate = 'goes on' | 'ends' | 'either'

const core = (name: string, reading: string, change: string) =>
  `const m = require('${name}'); const trace = ${reading}; ${change}`

/** A source that marks the global `acted` from something that comes after its answer, in this run or in the next. */
const later = (act: string) =>
  `if (!svc.context.parameters.second) { const mark = () => { globalThis.acted = 1 }; ${act} }\n` +
  'const at = Date.now(); if (svc.context.parameters.second) while (Date.now() - at < 60) await new Promise((go) => setTimeout(go, 5))\n' +
  'const trace = typeof acted'

/** What a run may leave behind; each source gives in `trace` what of it is to be seen. */
const leftovers: [leftover: string, fate: Fate, source: string][] = [
  // Settings of core modules.
  [
    'inspect.defaultOptions',
    'ends',
    core('util', 'm.inspect.defaultOptions.depth', 'm.inspect.defaultOptions.depth = 9'),
  ],
  ['inspect.styles', 'ends', core('util', 'm.inspect.styles.string', 'm.inspect.styles.string = "red"')],
  ['events.defaultMaxListeners', 'ends', core('events', 'm.defaultMaxListeners', 'm.defaultMaxListeners = 99')],
  ['events.setMaxListeners', 'ends', core('events', 'm.defaultMaxListeners', 'm.setMaxListeners(99)')],
  ['events.captureRejections', 'ends', core('events', 'm.captureRejections', 'm.captureRejections = true')],
  [
    'another http.globalAgent',
    'ends',
    core('http', 'm.globalAgent.maxSockets', 'm.globalAgent = new m.Agent({ maxSockets: 3 })'),
  ],
  ['settings of http.globalAgent', 'ends', core('http', 'm.globalAgent.maxSockets', 'm.globalAgent.maxSockets = 3')],
  [
    'settings of https.globalAgent',
    'ends',
    core('https', 'm.globalAgent.options.rejectUnauthorized', 'm.globalAgent.options.rejectUnauthorized = false'),
  ],
  ['dns.setServers', 'ends', core('dns', 'm.getServers().join()', 'm.setServers(["192.0.2.1"])')],
  ['dns.setServers of promises', 'ends', core('dns/promises', 'm.getServers().join()', 'm.setServers(["192.0.2.1"])')],
  [
    'dns.setDefaultResultOrder',
    'ends',
    core('dns', 'm.getDefaultResultOrder()', 'm.setDefaultResultOrder("ipv6first")'),
  ],
  [
    'net.setDefaultAutoSelectFamily',
    'ends',
    core('net', 'm.getDefaultAutoSelectFamily()', 'm.setDefaultAutoSelectFamily(false)'),
  ],
  [
    'net.setDefaultAutoSelectFamilyAttemptTimeout',
    'ends',
    core('net', 'm.getDefaultAutoSelectFamilyAttemptTimeout()', 'm.setDefaultAutoSelectFamilyAttemptTimeout(4321)'),
  ],
  ['tls defaults', 'ends', core('tls', 'm.DEFAULT_MIN_VERSION', 'm.DEFAULT_MIN_VERSION = "TLSv1.3"')],
  [
    'tls.setDefaultCACertificates',
    'ends',
    core('tls', 'm.getCACertificates("default").length', 'm.setDefaultCACertificates([])'),
  ],
  [
    'stream.setDefaultHighWaterMark',
    'ends',
    core('stream', 'm.getDefaultHighWaterMark(false)', 'm.setDefaultHighWaterMark(false, 1000)'),
  ],
  ['Buffer.poolSize', 'ends', 'const trace = Buffer.poolSize; Buffer.poolSize = 16'],
  [
    'v8 flags',
    'ends',
    core(
      'v8',
      '(() => { try { return eval("%IsSmi(1)") } catch (e) { return e.name } })()',
      'm.setFlagsFromString("--allow-natives-syntax")',
    ),
  ],
  [
    'worker_threads.setEnvironmentData',
    'ends',
    core('worker_threads', 'm.getEnvironmentData("a")', 'm.setEnvironmentData("a", 1)'),
  ],
  ['os.setPriority', 'ends', core('os', 'm.getPriority()', 'm.setPriority(5)')],
  ['http.setMaxIdleHTTPParsers', 'ends', core('http', '0', 'm.setMaxIdleHTTPParsers(7)')],
  // Listeners and watchers.
  ['diagnostics_channel', 'ends', core('diagnostics_channel', 'm.hasSubscribers("x")', 'm.subscribe("x", () => {})')],
  [
    'a diagnostics channel of fetch',
    'ends',
    core(
      'diagnostics_channel',
      'm.channel("undici:request:create").hasSubscribers',
      'm.channel("undici:request:create").subscribe(() => {})',
    ),
  ],
  [
    'async_hooks',
    'ends',
    `globalThis.count ??= 0; ${core('async_hooks', 'globalThis.count', 'm.createHook({ init() { globalThis.count = (globalThis.count ?? 0) + 1 } }).enable(); setTimeout(() => {}, 0)')}`,
  ],
  [
    'executionAsyncResource',
    'ends',
    core('async_hooks', 'm.executionAsyncResource().leaked', 'm.executionAsyncResource().leaked = 1'),
  ],
  [
    'a performance mark',
    'goes on',
    'const trace = performance.getEntries().filter(({ entryType }) => entryType !== "node").length; performance.mark("a"); performance.measure("b", "a")',
  ],
  [
    'a mark of perf_hooks',
    'goes on',
    core('perf_hooks', 'm.performance.getEntriesByName("a").length', 'm.performance.mark("a")'),
  ],
  [
    'a PerformanceObserver',
    'ends',
    `${core('perf_hooks', 'typeof acted', 'new m.PerformanceObserver(() => { globalThis.acted = 1 }).observe({ entryTypes: ["mark"] })')}; performance.mark("b"); await new Promise((go) => setTimeout(go, 20))`,
  ],
  ['node:test', 'ends', core('node:test', '0', 'm.test("a", () => {})')],
  ['the inspector', 'ends', core('inspector', 'm.url()', 'm.open(0, "127.0.0.1")')],
  // process.
  ['process.title', 'goes on', 'const trace = process.title; process.title = "leaked"'],
  ['process.argv', 'ends', 'const trace = process.argv.length; process.argv.push("leaked")'],
  ['process.execArgv', 'ends', 'const trace = process.execArgv.length; process.execArgv.push("leaked")'],
  ['process.report', 'ends', 'const trace = process.report.directory; process.report.directory = "/leaked"'],
  ['process.noDeprecation', 'ends', 'const trace = process.noDeprecation; process.noDeprecation = true'],
  [
    'process.setSourceMapsEnabled',
    'ends',
    'const trace = process.sourceMapsEnabled; process.setSourceMapsEnabled(true)',
  ],
  [
    'the time zone',
    'goes on',
    'const trace = new Date(0).getHours(); process.env.TZ = "Asia/Tokyo"; new Date(0).getHours()',
  ],
  [
    'the uncaught exception callback',
    'goes on',
    'const trace = process.hasUncaughtExceptionCaptureCallback(); process.setUncaughtExceptionCaptureCallback(() => {})',
  ],
  ['process.emitWarning', 'ends', 'const trace = String(process.emitWarning).length; process.emitWarning = () => {}'],
  ['process.mainModule', 'goes on', 'const trace = typeof process.mainModule'],
  ['maxListeners of process', 'ends', 'const trace = process.getMaxListeners(); process.setMaxListeners(77)'],
  // Built-ins.
  ['Math.random', 'ends', 'const trace = Math.random() === 4; Math.random = () => 4'],
  ['Date.now', 'ends', 'const trace = Date.now() === 4; Date.now = () => 4'],
  [
    'Intl',
    'ends',
    'const trace = new Intl.NumberFormat("en").format(1); Intl.NumberFormat.prototype.formatToParts = 1; Object.defineProperty(Intl.NumberFormat.prototype, "format", { get: () => () => "leaked" })',
  ],
  [
    'a method of Intl',
    'ends',
    'const trace = typeof Intl.Collator.prototype.leaked; Intl.Collator.prototype.leaked = 1',
  ],
  ['the URL class', 'ends', 'const trace = typeof URL.leaked; URL.leaked = () => 1'],
  ['crypto', 'ends', 'const trace = crypto.subtle.leaked; crypto.subtle.leaked = 1'],
  ['fs.promises', 'ends', core('fs', 'm.promises.leaked', 'm.promises.leaked = 1')],
  ['fs/promises patched', 'ends', core('fs/promises', 'String(m.readFile).length', 'm.readFile = async () => "x"')],
  ['path.posix', 'ends', core('path', 'm.posix.leaked', 'm.posix.leaked = 1')],
  ['util.promisify.custom of a function', 'ends', core('fs', 'typeof m.readFile.leaked', 'm.readFile.leaked = 1')],
  // Module loaders.
  ['the module cache', 'goes on', core('module', 'm._cache["/leaked"]', 'm._cache["/leaked"] = { exports: 1 }')],
  [
    'a module of its own',
    'goes on',
    'const fs = require("fs"); fs.writeFileSync("a.js", "exports.count = (globalThis.nothing, 0)"); const own = require("module").createRequire(__filename)("./a.js"); const trace = own.count; own.count += 1',
  ],
  [
    'a loader for a kind of file',
    'ends',
    core('module', 'Object.keys(m._extensions).join()', 'm._extensions[".leaked"] = () => {}'),
  ],
  ['module._load', 'ends', core('module', 'String(m._load).length', 'm._load = () => {}')],
  ['module.registerHooks', 'ends', core('module', '0', 'm.registerHooks({ resolve: (s, c, next) => next(s, c) })')],
  ['module.wrapper', 'ends', core('module', 'm.wrapper[0].length', 'm.wrapper[0] = "leaked" + m.wrapper[0]')],
  // What acts later.
  ['a timer of promises', 'goes on', later('require("timers/promises").setTimeout(10).then(mark)')],
  [
    'a timer that makes timers',
    'goes on',
    later('const again = () => { mark(); setTimeout(again, 1) }; setTimeout(again, 5)'),
  ],
  [
    'an immediate that makes immediates',
    'goes on',
    later('const again = () => { mark(); setImmediate(again) }; setTimeout(() => setImmediate(again), 5)'),
  ],
  ['a signal that times out', 'either', later('AbortSignal.timeout(10).addEventListener("abort", mark)')],
  [
    'a file that is read',
    'ends',
    later('require("fs").readFile("/dev/zero", { signal: AbortSignal.timeout(20) }, mark)'),
  ],
  ['work of crypto', 'ends', later('require("crypto").pbkdf2("a", "b", 200000, 64, "sha512", mark)')],
  [
    'work of crypto.subtle',
    'ends',
    later(
      'crypto.subtle.importKey("raw", new Uint8Array(8), "PBKDF2", false, ["deriveBits"]).then((k) => crypto.subtle.deriveBits({ name: "PBKDF2", salt: new Uint8Array(8), iterations: 200000, hash: "SHA-512" }, k, 512)).then(mark); await new Promise((go) => setTimeout(go, 5))',
    ),
  ],
  ['work of zlib', 'ends', later('require("zlib").brotliCompress(Buffer.alloc(3e6, "abc def"), mark)')],
  [
    'Atomics.waitAsync',
    'ends',
    later('Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20).value.then(mark)'),
  ],
  [
    'a finalizer',
    'ends',
    later('new FinalizationRegistry(mark).register({}, 1); require("v8").setFlagsFromString("--expose-gc"); '),
  ],
  [
    'a channel of messages',
    'ends',
    later(
      'const { port1, port2 } = new MessageChannel(); port1.onmessage = mark; port1.unref(); setTimeout(() => port2.postMessage(1), 0)',
    ),
  ],
  ['a broadcast channel', 'ends', later('const c = new BroadcastChannel("x"); c.onmessage = mark; c.unref()')],
  ['a watched file', 'ends', later('require("fs").watchFile("/etc/hostname", mark).unref()')],
  ['a subprocess that ends', 'ends', later('require("child_process").execFile("true", mark)')],
  ['a socket that is not referenced', 'ends', later('require("dgram").createSocket("udp4").bind(0).unref()')],
  [
    'WebAssembly that is compiled',
    'either',
    later('WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(mark)'),
  ],
  ['an emitted warning', 'goes on', later('process.emitWarning("a"); process.on("warning", mark)')],
  [
    'a file in shared memory',
    'ends',
    'const fs = require("fs"); const name = `/dev/shm/${svc.context.parameters.name}`; const trace = 0; fs.writeFileSync(name, "x")',
  ],
]

let under: RunnerUnderTest
beforeAll(async () => {
  // Without isolation, which would refuse some of them.
  under = await startRunner({ ISOLATION: 'none' })
})
afterAll(() => under.stop())

test.for(leftovers)('%s: the child %s', async ([leftover, fate, source]) => {
  const name = `leftover-of-a-test-${process.pid}`
  const run = async (second: boolean) => {
    const parameters = { second, name }
    const { value, explanation } = await under.replica.run(`${source}\nreturn [trace, process.pid]`, { parameters })
    expect(explanation).toBeUndefined()
    await under.settled()
    return value as [unknown, number]
  }
  const [firstTrace, firstPid] = await run(false)
  const [secondTrace, secondPid] = await run(true)
  expect(secondTrace, `${leftover} is seen by the next run`).toEqual(firstTrace)
  if (fate !== 'either') expect(secondPid === firstPid ? 'goes on' : 'ends').toBe(fate)
})
