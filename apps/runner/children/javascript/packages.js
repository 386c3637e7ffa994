'use strict'

/* What `require` and `import` find of installed packages. */

const { createRequire, findPackageJSON } = require('node:module')
const { readFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { isNativeError } = require('node:util').types
const { hintWithin } = require('./missing.js')

const CONDITIONS = ['node', 'import', 'module-sync', 'default']

/**
 * A `require` of the packages below a directory, and its `resolve`, which gives the file; those that are made for `import`
 * alone are found, too. Both are also given what makes the end of the sentence on one that is not there. `hasOther` says
 * whether a package that is there gives another file to `import` than to `require`.
 */
function requirerOf(directory) {
  const from = join(directory, 'index.js')
  const require = createRequire(from)
  const others = new Map()
  const found = (find) => (name, hint) => {
    try {
      return find(name)
    } catch (error) {
      if (error?.code === 'MODULE_NOT_FOUND' && error.requireStack?.length === 1 && error.requireStack[0] === from)
        throw Object.assign(new Error(`Cannot find module '${name}'${hint()}`), { code: error.code })
      if (error?.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw told(error)
      const path = exportedTo(name, from)
      if (path === undefined) throw error
      return find(path)
    }
  }
  const resolve = found(require.resolve)
  const hasOther = (name) => {
    if (!others.has(name)) {
      const path = exportedTo(name, from)
      others.set(name, path !== undefined && path !== resolve(name))
    }
    return others.get(name)
  }
  return Object.assign(found(require), { resolve, hasOther })
}

/** The error with what is to be said of a part of a package that is not there. */
function told(error) {
  if (isNativeError(error)) {
    const text = String(error.message)
    const end = hintWithin({ code: error.code, message: text })
    // Of a module that failed before Node throws the same error again.
    if (end !== '' && !text.includes(end))
      Reflect.set(
        error,
        'message',
        text.replace(/^.*/, (line) => line + end),
      )
  }
  return error
}

/** The file that a package gives to `import` under this name. */
function exportedTo(name, from) {
  const manifest = findPackageJSON(name, pathToFileURL(from))
  if (manifest === undefined) return undefined
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8').replace(/^\uFEFF/, ''))
  const within = `.${name
    .split('/')
    .slice(name.startsWith('@') ? 2 : 1)
    .map((each) => `/${each}`)
    .join('')}`
  const isTable =
    typeof exports === 'object' && exports !== null && Object.keys(exports).some((key) => key.startsWith('.'))
  const target = isTable ? inTable(exports, within) : within === '.' ? targetOf(exports) : undefined
  return target === undefined ? undefined : join(dirname(manifest), target)
}

/** Of a name that is no key by itself: of the pattern that fits with the longest beginning. */
function inTable(exports, within) {
  if (Object.hasOwn(exports, within)) return targetOf(exports[within])
  const fitting = Object.keys(exports)
    .map((key) => ({ key, parts: key.split('*') }))
    .filter(({ key, parts: [start, end] }) => {
      return end !== undefined && within.length >= key.length && within.startsWith(start) && within.endsWith(end)
    })
    .sort((one, other) => other.parts[0].length - one.parts[0].length)
  if (fitting.length === 0) return undefined
  const [{ key, parts }] = fitting
  const rest = within.slice(parts[0].length, within.length - parts[1].length)
  return targetOf(exports[key])?.replaceAll('*', () => rest)
}

function targetOf(value) {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(targetOf).find((each) => each !== undefined)
  if (typeof value !== 'object' || value === null) return undefined
  const condition = Object.keys(value).find((key) => CONDITIONS.includes(key) && targetOf(value[key]) !== undefined)
  return condition === undefined ? undefined : targetOf(value[condition])
}

module.exports = { requirerOf }
