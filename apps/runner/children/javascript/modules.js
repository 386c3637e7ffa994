'use strict'

/*
 * What `require`, `import` and `import()` find: Node's own modules, the package `svc`, the team's modules, and installed
 * packages.
 */

const { isBuiltin, Module } = require('node:module')
const { isAbsolute } = require('node:path')
const { pathToFileURL } = require('node:url')
const { isModuleNamespaceObject, isNativeError } = require('node:util').types
const loadedModules = require('./loaded-modules.js')
const missing = require('./missing.js')
const { requirerOf } = require('./packages.js')
const subprocesses = require('./subprocesses.js')
const workers = require('./workers.js')

const used = new Set()
const given = new Set()
const nodeRequire = require
const { getBuiltinModule } = process
const { set } = Reflect
const { _compile: compileModule } = Module.prototype

/** Names of the built-in modules that process code or a package has asked for in this child, without `node:`. */
const usedBuiltins = () => used

/**
 * Both are called with the name and the exports of a built-in module: `used` before process code or a package gets it for
 * the first time, `given` before process code itself does.
 */
let listeners = { used: () => {}, given: () => {} }
const watchBuiltins = (both) => (listeners = both)

function builtin(specifier) {
  give(specifier)
  return nodeRequire(specifier)
}

function give(specifier) {
  use(specifier)
  const name = nameOf(specifier)
  if (given.has(name)) return
  given.add(name)
  listeners.given(name, nodeRequire(specifier))
}

function use(specifier) {
  if (!used.has(nameOf(specifier))) firstUse(specifier)
}

/** By a `require` that Node makes: that of a package, or where process code can make one, its own. */
const loadByNode = (specifier) => (given.has('module') ? give(specifier) : use(specifier))

/** The `require` of installed packages, and where they lie; undefined where nothing is installed. */
let installed
let packagesDirectory

/** From now on process code finds the packages that lie below this directory. */
function showPackages(directory) {
  loadedModules.watch(loadByNode)
  installed = requirerOf(directory)
  packagesDirectory = directory
}

/** By file: modules of packages that wait at their top level, which no `require` loads. They stay loaded like the others. */
const awaited = new Map()
/** By error of a `require`: the file that is to be loaded by `import()` before the import can have it. */
const waiting = new WeakMap()

function packageOf(name, hint) {
  try {
    return installed(name, hint)
  } catch (error) {
    if (error?.code !== 'ERR_REQUIRE_ASYNC_MODULE') throw error
    const path = installed.resolve(name, hint)
    if (awaited.has(path)) return awaited.get(path)
    waiting.set(error, path)
    throw error
  }
}

/**
 * Of what an import has thrown: a promise that is there when it is to be done once more, since it will find what it waits
 * for; undefined where that would not help.
 */
function loadingOf(thrown) {
  const path = waiting.get(thrown)
  if (path === undefined) return undefined
  waiting.delete(thrown)
  return importFile(path).then((namespace) => awaited.set(path, namespace))
}

/** Of what a source has thrown that had begun: it is not begun anew. */
function begun(thrown) {
  waiting.delete(thrown)
  return thrown
}

/** By Node's own `import()`, which code that is one with this file has not; a module of Node's making has. */
function importFile(path) {
  if (nativeImport === undefined) {
    const made = new Module(`${__dirname}/import.js`)
    compileModule.call(made, 'module.exports = (url) => import(url)', made.id, 'commonjs')
    nativeImport = made.exports
  }
  return nativeImport(pathToFileURL(path).href)
}
let nativeImport

/** What is said of a name that leads nowhere to a source with these imports. */
const hintOn = (name, imports, names = [], isLiteral = true) =>
  missing.hint(name, [...names, ...missing.namesOf(imports), ...missing.installed(packagesDirectory)], isLiteral)

const isPackage = (name) => /^(?:@[^/]+\/)?[^./@][^/]*(?:\/|$)/.test(name)

const nameOf = (specifier) => specifier.replace(/^node:/, '')

function firstUse(specifier) {
  const name = nameOf(specifier)
  used.add(name)
  const exported = nodeRequire(specifier)
  if (name === 'child_process') subprocesses.fenceIn(exported)
  if (name === 'worker_threads') workers.fitIn(exported)
  if (name === 'module') loadedModules.watch(loadByNode)
  listeners.used(name, exported)
}

process.getBuiltinModule = (specifier) => (isBuiltin(specifier) ? builtin(specifier) : getBuiltinModule(specifier))

/**
 * The scope that one run's source is evaluated in. `packages` maps the names of our own packages to their exports;
 * `team(name)` gives the team's module of this name as `{ exported, isNamespace }`, or undefined; `imports` are
 * those that there are, `hasLiteral(name)` tells whether the source imports this name by a literal.
 */
function scopeOf({ fileName, isModule, packages, directory, team, imports, hasLiteral }) {
  const path = `${directory}/${fileName}`
  const module = { exports: {}, id: '.', filename: path, path: directory, loaded: false, children: [], paths: [] }

  const hint = (name) => hintOn(name, imports, packages.keys(), hasLiteral(name))
  const resolve = (specifier) => {
    const name = String(specifier)
    if (isBuiltin(name)) return builtin(name)
    if (packages.has(name)) return packages.get(name)
    const found = team(name)
    if (found !== undefined) return found.exported
    if (installed !== undefined && isPackage(name)) return packageOf(name, () => hint(name))
    throw notFound(name, isModule, hint(name))
  }
  const isOurs = (name) => isBuiltin(name) || packages.has(name) || team(name) !== undefined
  const locate = (specifier) => {
    const name = String(specifier)
    if (installed !== undefined && isPackage(name) && !isOurs(name)) return installed.resolve(name, () => hint(name))
    return (resolve(name), name)
  }
  const require = Object.assign((specifier) => resolve(specifier), {
    resolve: locate,
    cache: Object.create(null),
    main: module,
  })
  module.require = require

  const own = new Map()
  const namespaceFor = (name, namespaces) => {
    const found = isBuiltin(name) || packages.has(name) ? undefined : team(name)
    if (found?.isNamespace) return found.exported
    const exported = resolve(name)
    // What a module exports may still grow while it waits for one that it imports.
    if (found === undefined && namespaces.has(name)) return namespaces.get(name)
    const isInstalled = found === undefined && !isBuiltin(name) && !packages.has(name)
    const namespace = isInstalled ? namespaceOfInstalled(name, exported) : namespaceOf(exported)
    namespaces.set(name, namespace)
    return namespace
  }
  const find = (name, wanted) => {
    const namespaces = isBuiltin(name) ? ofBuiltins : own
    const namespace = namespaceFor(name, namespaces)
    const missing = wanted.find((each) => !(each in namespace))
    if (missing === undefined) return namespace
    throw new SyntaxError(`The requested module '${name}' does not provide an export named '${missing}'`)
  }
  const load = (specifier, wanted, line, column) => {
    try {
      return find(String(specifier), wanted)
    } catch (error) {
      throw line === undefined ? error : passing(error, fileName, `${line}:${column}`)
    }
  }
  let hasBegun = !isModule
  load.done = () => (hasBegun = true)
  load.define = (target, name, get) => Object.defineProperty(target, name, { get, enumerable: true })
  load.defineAll = (target, namespace) => {
    for (const name of Object.keys(namespace)) {
      if (name !== 'default' && !(name in target)) load.define(target, name, () => namespace[name])
    }
  }
  const meta = isModule && {
    url: pathToFileURL(path).href,
    filename: path,
    dirname: directory,
    resolve: (specifier) => {
      const found = locate(specifier)
      return isAbsolute(found) ? pathToFileURL(found).href : found
    },
  }
  const importLater = async (specifier) => {
    for (;;) {
      try {
        return load(specifier, [])
      } catch (error) {
        const loading = loadingOf(error)
        if (loading === undefined) throw error
        await loading
      }
    }
  }
  const exported = Object.create(null)
  return {
    module,
    exported,
    /** Its imports are done: whatever is thrown now comes from the source itself. */
    hasBegun: () => hasBegun,
    values: [module.exports, require, module, path, directory, importLater, meta, exported, load],
  }
}

/**
 * What has come through an import, with the place of the import in its stack where it is an error: imports are hoisted to
 * before the first column, and a stack may end before it comes to them.
 */
function passing(thrown, fileName, place) {
  if (!isNativeError(thrown) || typeof thrown.stack !== 'string') return thrown
  const lines = thrown.stack.split('\n')
  const hoisted = new RegExp(String.raw`^ {4}at (?:.* \()?${RegExp.escape(fileName)}:1:(?:0|-\d+)\)?$`)
  const at = lines.findIndex((line) => hoisted.test(line))
  lines.splice(at < 0 ? lines.length : at, 1, `    at ${fileName}:${place}`)
  set(thrown, 'stack', lines.join('\n'))
  return thrown
}

const ofBuiltins = new Map()
const ofInstalled = new WeakMap()

/** Packages stay loaded from run to run, and so do their namespaces, while what they export has the same names. */
function namespaceOfInstalled(name, exported) {
  if (isModuleNamespaceObject(exported)) return exported
  const names = namesOf(exported)
  const kept = ofInstalled.get(exported)
  if (kept?.names.length === names.length && names.every((each, at) => each === kept.names[at])) return kept.namespace
  const namespace = namespaceOf(exported, defaultOf(name, exported))
  if (names.length > 0) ofInstalled.set(exported, { names, namespace })
  return namespace
}

/** Of a package that has a file for `import`, too, what is compiled for `require` has the default export of that. */
const defaultOf = (name, exported) =>
  exported?.__esModule && 'default' in exported && installed.hasOther(name) ? exported.default : exported

/** What `import * as` gives: the enumerable names of what a module exports, read when they are asked for. */
function namespaceOf(exported, byDefault = exported) {
  if (isModuleNamespaceObject(exported)) return exported
  const namespace = Object.create(null, { [Symbol.toStringTag]: { value: 'Module' } })
  for (const name of namesOf(exported)) {
    if (name !== 'default') Object.defineProperty(namespace, name, { get: () => exported[name], enumerable: true })
  }
  return Object.freeze(Object.defineProperty(namespace, 'default', { value: byDefault, enumerable: true }))
}

const namesOf = (exported) =>
  exported !== null && /^(?:object|function)$/.test(typeof exported) ? Object.keys(exported) : []

function notFound(name, isModule, hint) {
  const error = new Error(`Cannot find ${isModule ? 'package' : 'module'} '${name}'${hint}`)
  return Object.assign(error, { code: isModule ? 'ERR_MODULE_NOT_FOUND' : 'MODULE_NOT_FOUND' })
}

module.exports = { begun, hintOn, loadingOf, scopeOf, showPackages, usedBuiltins, watchBuiltins }
