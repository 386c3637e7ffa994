'use strict'

/*
 * Worker threads. V8 sets 512 MiB aside for the compiled code of each, which count to what a process may have: a run would
 * have room for one alone.
 */

const { construct } = Reflect

// The least that V8 takes.
const codeRangeSizeMb = 64

/**
 * Has threads set less aside, unless they are told how much. Not those of packages that import this by ES module syntax: to
 * tell these of it would tell them also of what runs have changed in other modules.
 */
function fitIn(workerThreads) {
  workerThreads.Worker = new Proxy(workerThreads.Worker, {
    construct: (worker, [file, options, ...others], target) => {
      const resourceLimits = { codeRangeSizeMb, ...options?.resourceLimits }
      return construct(worker, [file, { ...options, resourceLimits }, ...others], target)
    },
  })
}

module.exports = { fitIn }
