'use strict'

/*
 * A run that is nobody's, for a spare child: what its first run would wait for has been loaded and compiled by then. It
 * is begun, answered and cleaned up like any other, only that nobody is told.
 */

/** By which it is known: no child has so many runs. */
const NUMBER = 2 ** 32 - 1

const MODULE_SOURCE = "import { context } from 'svc'\nexport async function main() { return [...context.parameters] }"

const program = {
  source: 'return { of: svc.context }',
  fileName: 'rehearsal.js',
  names: ['svc'],
  logs: { lines: 0, bytes: 0 },
  returnValueMaxBytes: 1000,
}
const surroundings = { team: '', timeZone: 'UTC', process: { id: '', name: '', slug: '' }, variables: {} }

/** The payload of its frame. */
function runPayload() {
  const header = Buffer.from(JSON.stringify({ number: NUMBER }))
  const parameters = Buffer.from('{}')
  const lengths = Buffer.alloc(8)
  lengths.writeUInt32LE(header.length, 0)
  lengths.writeUInt32LE(parameters.length, 4)
  return Buffer.concat([lengths, header, parameters])
}

module.exports = { MODULE_SOURCE, NUMBER, program, runPayload, surroundings }
