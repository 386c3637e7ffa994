'use strict'

const channel = require('./channel.js')

const { ANSWER, CALL } = channel.types
const { reallyExit } = process
const { parse, stringify } = JSON

/**
 * Gives the function by which `svc` of a run asks the runner for something: it sends the call and gives its answer, a
 * header and bytes that are to be read at once, to `settle`. Frames are read without blocking as long as a call is open.
 */
function asker(own, isOver) {
  return (call, settle) => {
    if (isOver()) throw new Error('The run is over')
    own.callNumber += 1
    own.calls.set(own.callNumber, settle)
    channel.send(CALL, own.number, stringify({ number: own.callNumber, ...call }))
    if (own.calls.size === 1) channel.receiveLater((frame) => answered(own, frame))
  }
}

function answered(own, { type, payload }) {
  if (type !== ANSWER) return reallyExit(1)
  const headerEnd = 4 + payload.readUInt32LE(0)
  const header = parse(payload.utf8Slice(4, headerEnd))
  const settle = own.calls.get(header.number)
  own.calls.delete(header.number)
  settle(header, payload.subarray(headerEnd))
  if (own.calls.size > 0) channel.receiveLater((frame) => answered(own, frame))
}

module.exports = { asker }
