'use strict'

/*
 * Worker threads. V8 sets 512 MiB aside for the compiled code of each, which count to what a process may have: a run would
 * have room for one alone.
 */

const { syncBuiltinESMExports } = require('node:module')

const { construct } = Reflect

// The least that V8 takes.
const codeRangeSizeMb = 64

/** Has threads set less aside, unless they are told how much. */
function fitIn(workerThreads) {
  workerThreads.Worker = new Proxy(workerThreads.Worker, {
    construct: (worker, [file, options, ...others], target) => {
      const resourceLimits = { codeRangeSizeMb, ...options?.resourceLimits }
      return construct(worker, [file, { ...options, resourceLimits }, ...others], target)
    },
  })
  // For packages that import it by ES module syntax.
  syncBuiltinESMExports()
}

module.exports = { fitIn }
