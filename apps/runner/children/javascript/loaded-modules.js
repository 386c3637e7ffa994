'use strict'

/*
 * Modules that process code loads from files, by a `require` that Node makes. Installed packages stay loaded, as they
 * would be for a program that goes on; a run's own files, and what it put into the cache by hand, are forgotten.
 */

const { isBuiltin } = require('node:module')
const Module = require('node:module').Module

const { keys } = Object
const { deleteProperty } = Reflect
const INSTALLED = '/node_modules/'

const known = new Map()
let watching = false

/** From now on process code can load files. `onBuiltin(specifier)` hears which of Node's modules they ask for. */
function watch(onBuiltin) {
  if (watching) return
  watching = true
  for (const path of keys(Module._cache)) known.set(path, Module._cache[path])
  const load = Module._load
  Module._load = function (request, ...rest) {
    if (typeof request === 'string' && isBuiltin(request)) onBuiltin(request)
    return Reflect.apply(load, this, [request, ...rest])
  }
}

/** Forgets what is not installed. Gives what can't be put back, in words, or undefined. */
function tidy() {
  if (!watching) return undefined
  for (const path of keys(Module._cache)) {
    const module = Module._cache[path]
    if (known.has(path) ? known.get(path) === module : isInstalled(path, module)) continue
    if (known.has(path) || !deleteProperty(Module._cache, path)) return 'the cache of modules'
  }
  for (const key of keys(Module._pathCache)) {
    if (!Module._pathCache[key].includes(INSTALLED)) deleteProperty(Module._pathCache, key)
  }
  return undefined
}

const isInstalled = (path, module) => path.includes(INSTALLED) && module instanceof Module

module.exports = { tidy, watch }
