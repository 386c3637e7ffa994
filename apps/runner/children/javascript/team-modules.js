'use strict'

/*
 * The team's modules that a program needs: compiled once, evaluated afresh by each run that imports them.
 */

const missing = require('./missing.js')
const { compile } = require('./program.js')
const { begun, hintOn, scopeOf } = require('./modules.js')

const { apply } = Reflect
const { freeze } = Object

/** Compiles a program's modules. One with a fault is compiled again by each run that imports it, which is told of it. */
function prepare({ modules = [], names }) {
  return modules.map(({ fileName, source, imports }) => {
    const known = { fileName, imports: mapOf(imports) }
    try {
      return { ...known, ...compile(source, fileName, names) }
    } catch {
      return { ...known, words: new Set(), evaluate: () => compile(source, fileName, names).evaluate() }
    }
  })
}

const referenceOf = (name, tag) => (tag === '' ? name : `${name} ${tag}`)

const mapOf = (imports = []) => new Map(imports.map(({ name, tag, module }) => [referenceOf(name, tag), module]))

/**
 * The modules of one run. `find(imports, name, tag)` gives the module that a source with these imports means, as
 * `{ exported, isNamespace }`, or undefined; `use(imports)` makes the `svc.import` of such a source.
 */
function forRun({ prepared, names, svc, directory }) {
  const loaded = new Map()

  const find = (imports, name, tag) => {
    const index = imports.get(referenceOf(name, tag))
    return index === undefined ? undefined : (loaded.get(index) ?? load(index))
  }

  const load = (index) => {
    const { fileName, imports, isModule, hasLiteral, evaluate } = prepared[index]
    const own = Object.assign(Object.create(svc), { import: use(imports) })
    const packages = new Map(names.map((name) => [name, own]))
    const team = (name) => find(imports, name, '')
    const scope = scopeOf({ fileName, isModule, packages, directory, team, imports, hasLiteral })
    // There before it is evaluated: modules may import each other.
    const entry = {
      get exported() {
        return isModule ? scope.exported : scope.module.exports
      },
      isNamespace: isModule,
    }
    loaded.set(index, entry)
    try {
      const body = apply(evaluate(), undefined, [...scope.values, undefined, ...names.map(() => own)])
      apply(body, isModule ? undefined : scope.module.exports, [])
    } catch (error) {
      loaded.delete(index)
      throw scope.hasBegun() ? begun(error) : error
    }
    scope.module.loaded = true
    return entry
  }

  const use = (imports) => (name, tag) => {
    if (typeof name !== 'string' || name === '') throw new TypeError('A module must be named by its name')
    if (tag != null && typeof tag !== 'string') throw new TypeError('A tag must be a string')
    const found = find(imports, name, tag ?? '')
    if (found !== undefined) return found.exported
    const version = tag ? ` with the version or alias '${tag}'` : ''
    const why = 'it is no module of the team, or its name does not stand in the source as a literal'
    const said = missing.versionsOf(name, tag ?? '') ?? why + hintOn(name, imports)
    const text = `Cannot find module '${name}'${version}: ${said}`
    throw Object.assign(new Error(text), { code: 'MODULE_NOT_FOUND' })
  }

  return { find, use }
}

module.exports = { prepare, forRun, mapOf: freeze(mapOf) }
