'use strict'

/*
 * What process code prints. `console` and `process.stderr` write records into standard output, between the raw bytes
 * that anything else puts there, so that the order holds: a mark that no UTF-8 text contains, a kind (log level, or
 * RAW_ERROR for bytes of standard error), the time in microseconds, a length, and the text. A line is written at once:
 * it is seen live, and survives whatever ends the process. Only in a torrent several go together, for a moment.
 */

const { Console } = require('node:console')
const { writeSync } = require('node:fs')
const { Writable } = require('node:stream')
const { format } = require('node:util')

const DEBUG = 1
const INFO = 2
const WARNING = 3
const ERROR = 4
const RAW_ERROR = 16
const FENCE = 17
const MARK = [0xff, 0x00, 0xfe, 0x01]
const HEAD = 17
const MAX_CHARACTERS = 128 * 1024
// The runner counts no less of a line.
const COUNTED_BYTES = 64 * 1024
const STANDARD_OUTPUT = 1
const STANDARD_ERROR = 2
const RETRY_MS = 1

const wait = Atomics.wait
const sleeper = new Int32Array(new SharedArrayBuffer(4))
const now = performance.now.bind(performance)
const origin = performance.timeOrigin
// So many lines in a window go one by one; beyond, those of a millisecond together.
const TORRENT_LINES = 1000
const WINDOW_MS = 10
const TOGETHER_MS = 1
const TOGETHER_BYTES = 48 * 1024
const records = Buffer.allocUnsafeSlow(TOGETHER_BYTES + HEAD + MAX_CHARACTERS * 3)
const then = Function.prototype.call.bind(Promise.prototype.then)
const soon = Promise.resolve()

/** Nothing is written any more: the run is over. */
let isClosed = false
let lines = 0
let bytes = 0
let maxLines = Infinity
let maxBytes = Infinity
let formatter
let grouped = false

const fenceRecord = Buffer.alloc(HEAD)
let fences = 0

function emit(kind, text) {
  // What goes beyond the limit is told to the runner once; it counts the same, so it drops all that follows.
  if (lines > maxLines || bytes > maxBytes) return
  lines += 1
  const at = filled + HEAD
  const size = records.write(text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text, at)
  bytes += Math.min(size, COUNTED_BYTES)
  emitRecord(kind, size)
  // Nothing comes behind it that would take it along.
  if (lines > maxLines || bytes > maxBytes) flush()
}

let filled = 0
let windowSince = 0
let inWindow = 0
let flushedAt = 0
let flushesSoon = false
let oneByOne = false

/** Completes the record whose text is in place already. */
function emitRecord(kind, size) {
  const time = now()
  records[filled] = MARK[0]
  records[filled + 1] = MARK[1]
  records[filled + 2] = MARK[2]
  records[filled + 3] = MARK[3]
  records[filled + 4] = kind
  records.writeDoubleLE(Math.round((origin + time) * 1000), filled + 5)
  records.writeUInt32LE(size, filled + 13)
  filled += HEAD + size
  if (time - windowSince > WINDOW_MS) {
    windowSince = time
    inWindow = 0
  }
  inWindow += 1
  if (oneByOne || inWindow <= TORRENT_LINES || filled >= TOGETHER_BYTES || time - flushedAt >= TOGETHER_MS) {
    flushedAt = time
    return flush()
  }
  if (flushesSoon) return
  flushesSoon = true
  then(soon, flush)
}

/** Writes what has been kept together. */
function flush() {
  flushesSoon = false
  const size = filled
  filled = 0
  if (size > 0) write(STANDARD_OUTPUT, records, size)
}

/** Puts a mark of the same number into both pipes: the runner passes on nothing behind it before all in front of it. */
function fence() {
  flush()
  fences += 1
  fenceRecord.set(MARK)
  fenceRecord[4] = FENCE
  fenceRecord.writeDoubleLE(fences, 5)
  if (write(STANDARD_ERROR, fenceRecord, HEAD)) write(STANDARD_OUTPUT, fenceRecord, HEAD)
}

/** Node's own formatting of everything but the plain `console.log('text')`, made when a run first needs it. */
function formatted() {
  formatter ??= new Console({
    stdout: { write: (text) => emit(level, withoutNewline(text)) },
    stderr: { write: (text) => emit(errorLevel, withoutNewline(text)) },
    ignoreErrors: false,
    groupIndentation: 2,
  })
  return formatter
}

let level = INFO
let errorLevel = ERROR

const withoutNewline = (text) => (text.endsWith('\n') ? text.slice(0, -1) : text)

const plain = (of) => of.length === 1 && typeof of[0] === 'string' && !grouped

const methods = {
  debug(...values) {
    if (plain(values)) return emit(DEBUG, values[0])
    level = DEBUG
    formatted().debug(...values)
    level = INFO
  },
  log(...values) {
    if (plain(values)) return emit(INFO, values[0])
    formatted().log(...values)
  },
  info(...values) {
    if (plain(values)) return emit(INFO, values[0])
    formatted().info(...values)
  },
  warn(...values) {
    if (plain(values)) return emit(WARNING, values[0])
    errorLevel = WARNING
    formatted().warn(...values)
    errorLevel = ERROR
  },
  error(...values) {
    if (plain(values)) return emit(ERROR, values[0])
    formatted().error(...values)
  },
  trace(...values) {
    const holder = { name: 'Trace', message: values.length > 0 ? format(...values) : '' }
    Error.captureStackTrace(holder, methods.trace)
    formatted().error(holder.stack)
  },
  assert(condition, ...values) {
    errorLevel = WARNING
    formatted().assert(condition, ...values)
    errorLevel = ERROR
  },
  group(...values) {
    grouped = true
    formatted().group(...values)
  },
  groupCollapsed(...values) {
    grouped = true
    formatted().groupCollapsed(...values)
  },
}
const delegated = ['dir', 'dirxml', 'table', 'count', 'time', 'timeEnd', 'timeLog', 'groupEnd', 'countReset']
for (const name of delegated) methods[name] = (...values) => formatted()[name](...values)

/** Puts our methods onto the one console that process code sees, and our streams where `process` has its own. */
function install() {
  for (const name of Object.keys(methods)) {
    Object.defineProperty(methods[name], 'name', { value: name })
    console[name] = methods[name]
  }
  lazily('stdout', () => streamOf(STANDARD_OUTPUT, writeOutput))
  lazily('stderr', () => streamOf(STANDARD_ERROR, writeError))
}

const streams = {}

function lazily(name, make) {
  Object.defineProperty(process, name, {
    get: () => (streams[name] ??= make()),
    enumerable: true,
    configurable: true,
  })
}

function streamOf(descriptor, sink) {
  const stream = new Writable({
    write(chunk, _encoding, done) {
      sink(chunk)
      done()
    },
  })
  return Object.assign(stream, { fd: descriptor })
}

function writeOutput(chunk) {
  flush()
  write(STANDARD_OUTPUT, chunk, chunk.length)
}

function writeError(chunk) {
  flush()
  for (let at = 0; at < chunk.length; at += MAX_CHARACTERS) {
    emitRecord(RAW_ERROR, chunk.copy(records, filled + HEAD, at, Math.min(chunk.length, at + MAX_CHARACTERS)))
  }
}

/** Writes all of it. A subprocess may have made the shared pipe non-blocking; a closed one swallows it: false. */
function write(descriptor, bytes, size) {
  if (isClosed) return false
  for (let sent = 0; sent < size;) {
    try {
      sent += writeSync(descriptor, bytes, sent, size - sent)
    } catch (error) {
      if (error.code !== 'EAGAIN') return false
      wait(sleeper, 0, 0, RETRY_MS)
    }
  }
  return true
}

/**
 * Makes console and streams as new for the next run, which may print at most so much before the rest is dropped.
 * `alone`: the program may print or end in ways that are not seen here, so that nothing may be kept for a moment.
 */
function restart(limits, alone) {
  oneByOne = alone
  isClosed = false
  lines = bytes = filled = 0
  maxLines = limits.lines
  maxBytes = limits.bytes
  formatter = streams.stdout = streams.stderr = undefined
  level = INFO
  errorLevel = ERROR
  grouped = false
}

/** The run has been answered: what it leaves may still act, and prints nothing that could be taken for the next run's. */
function mute() {
  isClosed = true
  maxLines = -1
}

module.exports = { fence, flush, install, mute, restart }
