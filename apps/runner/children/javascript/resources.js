'use strict'

/*
 * What a run opened and did not close: timers are stopped, anything else that is still there ends the child.
 */

const { createHook } = require('node:async_hooks')
const { openSync, closeSync, readlinkSync } = require('node:fs')
const { getActiveResourcesInfo, moduleLoadList } = process
const { clearTimeout, clearImmediate } = globalThis

const HARMLESS = new Set(['TickObject', 'Microtask', 'PROMISE'])
const LASTING = new Set(['PROCESSWRAP', 'WORKER', 'MESSAGEPORT', 'STATWATCHER', 'FSEVENTWRAP', 'INSPECTORJSBINDING'])
// Modules whose effects no look at this process shows.
const TELLTALE = new Set(['child_process', 'cluster', 'inspector', 'repl', 'trace_events', 'wasi', 'domain'])
const MAX_NOTED = 10_000

// Work in other threads, which nothing lists while it goes on.
const REQUEST = /^FSREQ|REQUEST$|^GET(?:ADDR|NAME)INFO|^QUERYWRAP/

let noted = []
let lasting
let mayHaveOpened = false
let watching = false
let loaded = 0
let lowestFree
let hasSpare = false
const open = new Set()

// Promises are left out: noting each would cost more than all else a short run does.
createHook({
  init(id, type, _trigger, resource) {
    if (!watching || HARMLESS.has(type)) return
    if (LASTING.has(type)) lasting = type
    if (type !== 'Timeout' && type !== 'Immediate') mayHaveOpened = true
    if (REQUEST.test(type)) open.add(id)
    else if (noted.length < MAX_NOTED) noted.push(type, resource)
    else lasting ??= 'many resources'
  },
  before(id) {
    open.delete(id)
  },
  trackPromises: false,
}).enable()

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
  const left = lasting ?? telltaleModule()
  const opened = noted
  const looksForFiles = mayHaveFiles || mayHaveOpened
  noted = []
  lasting = undefined
  mayHaveOpened = false
  for (let at = 0; at < opened.length; at += 2) {
    if (opened[at] === 'Timeout') clearTimeout(opened[at + 1])
    else if (opened[at] === 'Immediate') clearImmediate(opened[at + 1])
  }
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

module.exports = { mayHaveConnections, watch, unwatch, tidy }
