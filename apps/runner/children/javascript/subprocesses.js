'use strict'

/*
 * Subprocesses that inherit standard output and error write to two pipes that nobody reads in the order of the writes.
 * Where one starts and where it has ended, both pipes get a fence, and the runner reads up to it in both.
 */

const output = require('./output.js')

const SYNCHRONOUS = ['spawnSync', 'execSync', 'execFileSync']

/** Makes the functions of `child_process` put up fences. */
function fenceIn(childProcess) {
  for (const name of SYNCHRONOUS) {
    const original = childProcess[name]
    const fenced = function (...values) {
      output.fence()
      try {
        return original(...values)
      } finally {
        output.fence()
      }
    }
    childProcess[name] = Object.defineProperty(fenced, 'name', { value: name })
  }
  const { prototype } = childProcess.ChildProcess
  const { spawn } = prototype
  prototype.spawn = function (options) {
    output.fence()
    // The first to hear of it.
    this.prependListener('exit', output.fence)
    return spawn.call(this, options)
  }
}

module.exports = { fenceIn }
