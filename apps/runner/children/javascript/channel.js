'use strict'

/*
 * Frames between this child and the runner: a length of four bytes (little endian), a type byte, and a payload; frames
 * from the child have the number of their run before the payload. Reading blocks while the child is idle, so nothing
 * that a run left behind can act between two runs; only while a call to the service is open is it asynchronous.
 */

const { read, readSync, writeSync } = require('node:fs')
const rehearsal = require('./rehearsal.js')
const { reallyExit } = process
const { parse, stringify } = JSON

// As in src/children/frames.ts of the runner.
const types = {
  REHEARSE: 87,
  PROGRAM: 80,
  SURROUNDINGS: 83,
  RUN: 82,
  ANSWER: 65,
  HELLO: 72,
  VALUE: 86,
  FAILURE: 69,
  CALL: 67,
  CLEAN: 75,
  UNCLEAN: 88,
}

const IN = 3
const OUT = 4
const HEAD_FROM_CHILD = 9
const LOST_RUNNER = 70

let input = Buffer.allocUnsafeSlow(64 * 1024)
let start = 0
let end = 0
const output = Buffer.allocUnsafeSlow(64 * 1024)

/** The next frame, waited for with the whole process; undefined when the runner has closed the channel. */
function receive() {
  for (;;) {
    const frame = takeFrame()
    if (frame !== undefined) return frame
    makeSpace()
    const count = readSync(IN, input, end, input.length - end, null)
    if (count === 0) return undefined
    end += count
  }
}

/** Gives the next frame to `onFrame` when it comes, without blocking. */
function receiveLater(onFrame) {
  const frame = takeFrame()
  if (frame !== undefined) return void onFrame(frame)
  makeSpace()
  read(IN, input, end, input.length - end, null, (error, count) => {
    if (error || count === 0) reallyExit(LOST_RUNNER)
    end += count
    receiveLater(onFrame)
  })
}

function takeFrame() {
  if (end - start < 4) return undefined
  const length = input.readUInt32LE(start)
  if (end - start < 4 + length) return undefined
  const at = start + 4
  start = at + length
  const frame = { type: input[at], payload: input.subarray(at + 1, start) }
  if (start === end) start = end = 0
  return frame
}

/** Frames that were handed out point into the buffer; they are read before the next one is taken. */
function makeSpace() {
  const needed = end - start >= 4 ? 4 + input.readUInt32LE(start) : 4
  if (start + needed <= input.length && end < input.length) return
  const larger = needed > input.length ? Buffer.allocUnsafeSlow(needed) : input
  input.copy(larger, 0, start, end)
  input = larger
  end -= start
  start = 0
}

/** Sends a frame whose payload is text, behind the optional byte `flag` and before `bytes`; none of a rehearsal. */
function send(type, run, text, flag, bytes) {
  if (run === rehearsal.NUMBER) return
  const head = flag === undefined ? HEAD_FROM_CHILD : HEAD_FROM_CHILD + 1
  const fits = text.length * 3 + head <= output.length
  const size = head + (fits ? output.write(text, head) : Buffer.byteLength(text))
  const frame = fits ? output : Buffer.allocUnsafe(size)
  if (!fits) frame.write(text, head)
  frame.writeUInt32LE(size - 4 + (bytes?.length ?? 0), 0)
  frame[4] = type
  frame.writeUInt32LE(run, 5)
  if (flag !== undefined) frame[9] = flag
  writeFully(frame, size)
  if (bytes !== undefined) writeFully(bytes, bytes.length)
}

function writeFully(frame, size) {
  try {
    for (let sent = 0; sent < size;) sent += writeSync(OUT, frame, sent, size - sent)
  } catch {
    reallyExit(LOST_RUNNER)
  }
}

/**
 * Gives the function by which `svc` of a run asks the runner for something: it sends the call and gives its answer, a
 * header and bytes that are to be read at once, to `settle`. What a call has of `text` or `bytes` goes behind the rest, as
 * it is. Frames are read without blocking as long as a call is open.
 */
function asker(own, isOver) {
  return ({ text = '', bytes, ...call }, settle) => {
    if (isOver()) throw new Error('The run is over')
    own.callNumber += 1
    own.calls.set(own.callNumber, settle)
    send(types.CALL, own.number, `${stringify({ number: own.callNumber, ...call })}\n${text}`, undefined, bytes)
    if (own.calls.size === 1) receiveLater((frame) => answered(own, frame))
  }
}

function answered(own, { type, payload }) {
  if (type !== types.ANSWER) return reallyExit(1)
  const headerEnd = 4 + payload.readUInt32LE(0)
  const header = parse(payload.utf8Slice(4, headerEnd))
  const settle = own.calls.get(header.number)
  own.calls.delete(header.number)
  settle(header, payload.subarray(headerEnd))
  if (own.calls.size > 0) receiveLater((frame) => answered(own, frame))
}

module.exports = { types, asker, receive, receiveLater, send }
