'use strict'

/*
 * Standard output and standard error, as long as what is written belongs to the run that is on.
 */

const { writeSync } = require('node:fs')

const STANDARD_OUTPUT = 1
const STANDARD_ERROR = 2
const RETRY_MS = 1

const wait = Atomics.wait
const sleeper = new Int32Array(new SharedArrayBuffer(4))

let closed = false

/** Writes all of it. A subprocess may have made the shared pipe non-blocking; a closed one swallows it: false. */
function write(descriptor, bytes, size) {
  if (closed) return false
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

/** For the next run. */
const open = () => (closed = false)

/** Nothing is written any more. */
const close = () => (closed = true)

module.exports = { STANDARD_ERROR, STANDARD_OUTPUT, close, open, write }
