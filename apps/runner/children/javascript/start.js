'use strict'

/*
 * start.js COMPILED: starts the child from one file with all its modules, compiled as compile.js has left it. To find, read
 * and compile them one by one takes several times as long.
 */

const { readFileSync } = require('node:fs')
const { Script } = require('node:vm')

const HEAD_BYTES = 4

const compiled = readFileSync(process.argv[2])
const sourceEnd = HEAD_BYTES + compiled.readUInt32LE(0)
const script = new Script(compiled.latin1Slice(HEAD_BYTES, sourceEnd), {
  filename: `${__dirname}/modules.js`,
  // Made by another V8 it is not taken, and the source is compiled.
  cachedData: compiled.subarray(sourceEnd),
})
script.runInThisContext()(require, __dirname)
