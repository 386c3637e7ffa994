'use strict'

/*
 * What a run opened and did not close: timers are stopped, anything else that is still there ends the child.
 */

const { createHook } = require('node:async_hooks')
const { openSync, closeSync, readlinkSync } = require('node:fs')
const { getActiveResourcesInfo, moduleLoadList } = process
const { clearTimeout, clearImmediate, WebAssembly, Atomics } = globalThis
const { apply } = Reflect
const { isArray } = Array
const then = Function.prototype.call.bind(Promise.prototype.then)

const HARMLESS = new Set(['TickObject', 'Microtask', 'PROMISE'])
const LASTING = new Set(['PROCESSWRAP', 'WORKER', 'MESSAGEPORT', 'STATWATCHER', 'FSEVENTWRAP', 'INSPECTORJSBINDING'])
// Modules whose effects no look at this process shows.
const TELLTALE = new Set(['child_process', 'cluster', 'inspector', 'repl', 'trace_events', 'wasi', 'domain', 'test'])
const MAX_NOTED = 10_000

const CRYPTOGRAPHY = /REQUEST$/

// Work in other threads, which nothing lists while it goes on.
const REQUEST = /^FSREQ|(?<!^HTTPCLIENT)REQUEST$|^GET(?:ADDR|NAME)INFO|^QUERYWRAP/

let noted = []
let lasting
let mayHaveOpened = false
let watching = false
let loaded = 0
let lowestFree
let hasSpare = false
/** Work by its id, or its promise. */
const open = new Set()
const clearMarks = performance.clearMarks.bind(performance)
const clearMeasures = performance.clearMeasures.bind(performance)
const clearResourceTimings = performance.clearResourceTimings.bind(performance)

// Promises are left out: noting each would cost more than all else a short run does.
createHook({
  init(id, type, _trigger, resource) {
    if (!watching || HARMLESS.has(type)) return
    if (LASTING.has(type)) lasting = type
    if (type !== 'Timeout' && type !== 'Immediate') mayHaveOpened = true
    if (REQUEST.test(type)) opened(id, type, resource)
    else if (noted.length < MAX_NOTED) noted.push(type, resource)
    else lasting ??= 'many resources'
  },
  before(id) {
    open.delete(id)
  },
  trackPromises: false,
}).enable()

/** Cryptography that is done at once gives its result when it is run; what goes on does not. */
function opened(id, type, resource) {
  open.add(id)
  if (!CRYPTOGRAPHY.test(type)) return
  const { run } = resource
  resource.run = function () {
    const result = apply(run, this, [])
    if (isArray(result)) open.delete(id)
    return result
  }
}

/** Makes functions whose work no hook shows tell of it. */
function trackUnseenWork() {
  for (const name of ['compile', 'instantiate', 'compileStreaming', 'instantiateStreaming']) {
    track(WebAssembly, name, (promise) => promise)
  }
  track(Atomics, 'waitAsync', (result) => (result.async ? result.value : undefined))
}

function track(holder, name, promiseOf) {
  const original = holder[name]
  const tracked = function (...values) {
    const result = apply(original, this, values)
    const promise = promiseOf(result)
    if (promise === undefined) return result
    open.add(promise)
    const settled = () => open.delete(promise)
    then(promise, settled, settled)
    return result
  }
  holder[name] = Object.defineProperty(tracked, 'name', { value: name })
}

/** Whether the run opened more than timers. */
const mayHaveConnections = () => mayHaveOpened

/** Begins to note what is opened. */
function watch() {
  loaded ||= moduleLoadList.length
  lowestFree ??= probe()
  watching = true
}

/** Stops noting; from now on what the child itself opens is its own. */
function unwatch() {
  watching = false
}

/**
 * Stops the timers of the run. Gives what is left that can't be put back, in words, or undefined. Open files and
 * connections are looked for when the run opened any, or `mayHaveFiles`.
 */
function tidy(mayHaveFiles) {
  let left = lasting ?? telltaleModule()
  const resources = noted
  const looksForFiles = mayHaveFiles || mayHaveOpened
  noted = []
  lasting = undefined
  mayHaveOpened = false
  for (let at = 0; at < resources.length; at += 2) {
    if (resources[at] === 'Timeout') clearTimeout(resources[at + 1])
    else if (resources[at] === 'Immediate') clearImmediate(resources[at + 1])
    // A compressor holds what it works on.
    else if (resources[at] === 'ZLIB' && resources[at + 1].buffer) left ??= 'work that goes on'
  }
  clearMarks()
  clearMeasures()
  clearResourceTimings()
  if (left !== undefined) return left
  if (open.size > 0) return 'work that goes on'
  if (!looksForFiles) return undefined
  const [active] = getActiveResourcesInfo()
  if (active !== undefined) return `open ${active}`
  return probe() === lowestFree || isSpare() ? undefined : 'an open file or connection'
}

/** The lowest descriptor that is free: a file or connection left open has taken it. */
function probe() {
  const descriptor = openSync('/dev/null', 'r')
  closeSync(descriptor)
  return descriptor
}

/** From its first connection on Node keeps one more descriptor, of /dev/null, for the day when there are no others. */
function isSpare() {
  if (hasSpare || readlinkSync(`/proc/self/fd/${lowestFree}`) !== '/dev/null') return false
  hasSpare = true
  lowestFree = probe()
  return true
}

function telltaleModule() {
  if (moduleLoadList.length === loaded) return undefined
  const news = moduleLoadList.slice(loaded)
  loaded = moduleLoadList.length
  return news.map((entry) => entry.replace('NativeModule ', '')).find((name) => TELLTALE.has(name))
}

module.exports = { mayHaveConnections, trackUnseenWork, watch, unwatch, tidy }
