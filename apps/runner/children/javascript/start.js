'use strict'

/*
 * start.js COMPILED: starts the child from one file with all its modules, compiled as compile.js has left it. To find, read
 * and compile them one by one takes several times as long: so it does where the file is not what compile.js has made.
 */

const { readFileSync } = require('node:fs')
const { Script } = require('node:vm')

// The length of all, and of the source.
const HEAD_BYTES = 8

/** Of a file: the source, and what V8 has compiled for it. */
function fileOf(source, compiled) {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(HEAD_BYTES + source.length + compiled.length, 0)
  head.writeUInt32LE(source.length, 4)
  return Buffer.concat([head, source, compiled])
}

/** Undefined where it is not whole. */
function partsOf(file) {
  if (file.length < HEAD_BYTES || file.readUInt32LE(0) !== file.length) return undefined
  const sourceEnd = HEAD_BYTES + file.readUInt32LE(4)
  return { source: file.latin1Slice(HEAD_BYTES, sourceEnd), compiled: file.subarray(sourceEnd) }
}

function start() {
  let parts
  try {
    parts = partsOf(readFileSync(process.argv[2]))
  } catch {
    // It is not there any more.
  }
  if (parts === undefined) return require('./main.js')
  // Made by another V8, what is compiled is not taken, and the source is compiled.
  const options = { filename: `${__dirname}/modules.js`, cachedData: parts.compiled }
  new Script(parts.source, options).runInThisContext()(require, __dirname)
}

if (require.main === module) start()
module.exports = { fileOf, partsOf }
