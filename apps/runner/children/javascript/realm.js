'use strict'

/*
 * The built-ins as they were before process code ran, to be compared afterwards: what literals reach and the names of
 * globals each time; the rest, and the flags of properties, when the source has a word for it or asked for the module.
 */

const { Snapshot } = require('./snapshot.js')
const connections = require('./connections.js')
const states = require('./states.js')

const { getOwnPropertyDescriptor, getPrototypeOf, freeze, isFrozen, keys } = Object
const { ownKeys, deleteProperty } = Reflect
const { stackTraceLimit } = Error

// Words by which a source may reach globals that it does not name, or change what is not seen in a property's value.
const DYNAMIC = 'globalThis global self eval Function __proto__ getPrototypeOf'.split(' ')
const FLAGS =
  'defineProperty defineProperties freeze seal preventExtensions setPrototypeOf __defineGetter__ __defineSetter__ Symbol'.split(
    ' ',
  )
// Others are made by Node when they are first read, which takes long: they are looked at only when a source names them.
const EAGER =
  `Map Set WeakMap WeakSet WeakRef Date Math JSON Reflect Proxy Intl Atomics ArrayBuffer SharedArrayBuffer DataView
  Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float32Array Float64Array
  BigInt64Array BigUint64Array FinalizationRegistry parseInt parseFloat isNaN isFinite decodeURI decodeURIComponent
  encodeURI encodeURIComponent escape unescape Buffer process console URL URLSearchParams AbortController AbortSignal
  Event EventTarget TextEncoder TextDecoder setTimeout setInterval setImmediate clearTimeout clearInterval
  clearImmediate queueMicrotask structuredClone fetch performance atob btoa`.split(/\s+/)

// What changes by itself: the cache of modules, and what is put back elsewhere.
const CHANGING = new Set(['env', '_events', '_cache', '_pathCache', 'moduleLoadList'])
// Most programs run once or twice, and what makes a look quick takes longer than both.
const QUICK_FROM = 3
// A program with one of these words may be acted upon after its end.
const UNSEEN = ['FinalizationRegistry', 'PerformanceObserver']

const touched = new Map()
let literals
let globalNames
let enumerableNames
let thorough = false
let dynamic = false
let unseen

/** Takes the state that all programs start from. */
function capture() {
  const objects = literalObjects()
  freezeFunctions(objects)
  literals = objects.map((object) => new Snapshot(object))
  globalNames = new Set(ownKeys(globalThis))
  enumerableNames = keys(globalThis).length
}

function literalObjects() {
  const generator = function* () {}.constructor
  const asyncGenerator = async function* () {}.constructor
  const asyncFunction = (async () => {}).constructor
  const constructors = [Object, Function, Array, String, Number, Boolean, Symbol, BigInt, RegExp, Promise, Iterator]
  const errors = [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError, AggregateError]
  const both = [...constructors, ...errors, generator, asyncGenerator, asyncFunction].flatMap((each) => [
    each,
    each.prototype,
  ])
  const iterators = [[][Symbol.iterator](), ''[Symbol.iterator](), ''.matchAll(/a/g)].map(getPrototypeOf)
  const generators = [generator.prototype.prototype, asyncGenerator.prototype.prototype]
  return [...new Set([...both, ...iterators, ...generators, getPrototypeOf(generators[1])])]
}

/** Built-in functions that hold nothing of their own are frozen, so that nothing can be hung onto them. */
function freezeFunctions(objects) {
  for (const object of objects) {
    for (const key of ownKeys(object)) {
      const { value, get, set } = getOwnPropertyDescriptor(object, key)
      for (const each of [value, get, set]) if (typeof each === 'function' && isPlain(each)) freeze(each)
    }
  }
}

const isPlain = (method) => ownKeys(method).every((key) => key === 'length' || key === 'name')

/** Looks from now on also at what a program may reach by its words. Called before its first run. */
function observe(words) {
  const has = (word) => words.has(word)
  dynamic = DYNAMIC.some(has)
  unseen = UNSEEN.find(has)
  thorough = dynamic || FLAGS.some(has)
  if (dynamic) for (const name of EAGER) observeGlobal(name)
  for (const name of globalNames) if (has(name)) observeGlobal(name)
}

function observeGlobal(name) {
  if (touched.has(name)) return
  const value = globalThis[name]
  const parts = partsOf(value)
  if (name === 'crypto') parts.push(value.subtle, getPrototypeOf(value), getPrototypeOf(value.subtle))
  freezeFunctions(parts)
  if (name === 'process') states.watch(name, value)
  const binding = new Snapshot(globalThis, [name])
  const inside = insideOf(value).filter((part) => !isFunction(part))
  touched.set(name, { binding, snapshots: snapshotsOf([...parts, ...inside]), looks: 0 })
}

/** Looks from now on also at a built-in module, which process code or a package is about to get. */
function observeModule(name, exported) {
  states.watch(name, exported)
  const inside = insideOf(exported).filter((part) => !isFunction(part))
  const parts = [...partsOf(exported), ...inside, ...states.accessed(name).flatMap(partsOf)]
  touched.set(`module ${name}`, { snapshots: snapshotsOf(parts), looks: 0 })
}

/** Looks from now on also at what may be hung onto the functions of a built-in module: process code itself is about to get it. */
function observeFunctions(name, exported) {
  const functions = insideOf(exported).filter(isFunction)
  touched.set(`module ${name}, its functions`, { snapshots: snapshotsOf(functions), looks: 0 })
}

/** The prototype of a function that is no class. */
const isBare = (part) => typeof part === 'object' && ownKeys(part).length === 1 && ownKeys(part)[0] === 'constructor'

/** No class: a class holds methods. */
const isFunction = (part) => typeof part === 'function' && !isClass(part)

const isClass = ({ prototype }) => prototype !== null && typeof prototype === 'object' && ownKeys(prototype).length > 1

const snapshotsOf = (parts) => [...new Set(parts)].map((part) => new Snapshot(part))

/** What the values of its properties consist of, but for those that are frozen. */
function insideOf(value) {
  if (partsOf(value).length === 0) return []
  const names = ownKeys(value).filter((key) => !CHANGING.has(key))
  return names
    .flatMap((key) => partsOf(getOwnPropertyDescriptor(value, key).value))
    .filter((part) => !isFrozen(part) && !isBare(part))
}

/** What of a value can be changed: its own properties, and those of the prototype that it makes objects with. */
function partsOf(value) {
  if (value === globalThis || value === null || (typeof value !== 'object' && typeof value !== 'function')) return []
  const prototype = typeof value === 'function' ? getOwnPropertyDescriptor(value, 'prototype')?.value : undefined
  return prototype !== null && typeof prototype === 'object' ? [value, prototype] : [value]
}

/** Removes globals that the run added. Gives what else is not as it was, in words, or undefined. */
function tidy() {
  Error.stackTraceLimit = stackTraceLimit
  return unseen ?? states.changed() ?? changedNames() ?? changedLiterals() ?? changedTouched()
}

function changedNames() {
  if (!thorough && keys(globalThis).length === enumerableNames) return undefined
  let known = 0
  for (const name of ownKeys(globalThis)) {
    if (globalNames.has(name)) known += 1
    else if (!connections.names.includes(name) && !deleteProperty(globalThis, name)) return `the global ${String(name)}`
  }
  return known < globalNames.size ? 'a global was removed' : undefined
}

function changedLiterals() {
  for (const snapshot of literals) {
    if (!thorough && snapshot.isAlike()) continue
    const change = snapshot.difference()
    if (change !== undefined) return `the built-in ${String(change)}`
  }
  return undefined
}

function changedTouched() {
  for (const [name, one] of touched) {
    if (one.binding?.isSame(0) === false) return `the global ${name}`
    one.looks += 1
    const isQuick = !thorough && one.looks >= QUICK_FROM
    for (const snapshot of one.snapshots) {
      if (isQuick && snapshot.isAlike()) continue
      const change = snapshot.difference()
      if (change !== undefined) return `the built-in ${name}: ${String(change)}`
    }
  }
  return undefined
}

/** Whether the program may reach what it does not name. */
const isDynamic = () => dynamic

module.exports = { capture, isDynamic, observe, observeFunctions, observeModule, tidy }
