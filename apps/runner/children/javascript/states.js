'use strict'

/*
 * What core modules keep where no property shows it: settings that can be read are compared, and where nothing can be
 * read, the call that changes something is noted.
 */

const { getOwnPropertyDescriptor } = Object
const { ownKeys } = Reflect

const agentOf = ({ globalAgent: agent }) => [
  agent,
  agent.maxSockets,
  agent.maxFreeSockets,
  agent.maxTotalSockets,
  agent.keepAlive,
  agent.keepAliveMsecs,
  agent.scheduling,
  ...Object.values(agent.options),
]
const inspection = ({ inspect }) => [
  ...Object.values(inspect.defaultOptions),
  ...Object.values(inspect.styles),
  inspect.replDefaults,
]

const READINGS = {
  dns: (dns) => [dns.getServers().join(), dns.getDefaultResultOrder()],
  'dns/promises': (dns) => [dns.getServers().join(), dns.getDefaultResultOrder()],
  http: agentOf,
  https: agentOf,
  module: ({ wrapper }) => [wrapper[0], wrapper[1]],
  net: (net) => [net.getDefaultAutoSelectFamily(), net.getDefaultAutoSelectFamilyAttemptTimeout()],
  os: (os) => [os.getPriority()],
  process: ({ argv, execArgv, report, sourceMapsEnabled }) => [
    ...argv,
    ...execArgv,
    report.directory,
    report.filename,
    report.signal,
    report.compact,
    report.reportOnFatalError,
    report.reportOnSignal,
    report.reportOnUncaughtException,
    sourceMapsEnabled,
  ],
  stream: (stream) => [stream.getDefaultHighWaterMark(false), stream.getDefaultHighWaterMark(true)],
  util: inspection,
}

const CALLS = {
  async_hooks: ['createHook', 'executionAsyncResource'],
  crypto: ['setEngine', 'setFips'],
  diagnostics_channel: ['subscribe', 'Channel.prototype.subscribe', 'Channel.prototype.bindStore'],
  http: ['setMaxIdleHTTPParsers', 'setGlobalProxyFromEnv'],
  module: ['register', 'registerHooks', 'enableCompileCache', 'setSourceMapsSupport'],
  perf_hooks: ['PerformanceObserver.prototype.observe', 'monitorEventLoopDelay'],
  tls: ['setDefaultCACertificates'],
  util: ['setTraceSigInt'],
  v8: ['setFlagsFromString', 'setHeapSnapshotNearHeapLimit', 'startCpuProfile'],
  worker_threads: ['setEnvironmentData', 'markAsUntransferable'],
}

// Their getters warn, or make what takes long.
const UNREAD = new Set(['crypto', 'process', 'repl'])

const readings = new Map()
let called

/** From now on the state of this module counts. Called before process code gets it for the first time. */
function watch(name, exported) {
  for (const path of CALLS[name] ?? []) note(name, exported, path)
  const accessors = UNREAD.has(name)
    ? []
    : ownKeys(exported).filter((key) => getOwnPropertyDescriptor(exported, key).get)
  const own = READINGS[name] ?? (() => [])
  const read = () => [...own(exported), ...accessors.map((key) => exported[key])]
  if (own === READINGS[name] || accessors.length > 0) readings.set(name, { read, before: read() })
}

/** What accessors of a module give: objects that have properties of their own. */
function accessed(name) {
  return readings.get(name)?.before.filter((value) => value !== null && typeof value === 'object') ?? []
}

function note(module, exported, path) {
  const names = path.split('.')
  const last = names.pop()
  const holder = names.reduce((object, name) => object[name], exported)
  const original = holder?.[last]
  if (typeof original !== 'function') return
  const noting = function (...values) {
    called = `${module}.${path}`
    return Reflect.apply(original, this, values)
  }
  holder[last] = Object.defineProperty(noting, 'name', { value: last })
}

/** What is not as it was, in words, or undefined. */
function changed() {
  if (called !== undefined) return called
  for (const [name, { read, before }] of readings) {
    const now = read()
    if (now.length !== before.length) return `a setting of ${name}`
    for (let at = 0; at < now.length; at += 1) if (!Object.is(now[at], before[at])) return `a setting of ${name}`
  }
  return undefined
}

module.exports = { accessed, changed, watch }
