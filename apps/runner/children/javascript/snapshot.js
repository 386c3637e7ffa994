'use strict'

const { getOwnPropertyDescriptor, getOwnPropertySymbols, getPrototypeOf, isExtensible, keys: enumerableKeys } = Object
const { ownKeys } = Reflect
const { stringify } = JSON
const { isNaN } = Number
const MadeFunction = Function
const textOf = Function.prototype.call.bind(Function.prototype.toString)

// What the child itself puts back on `process`.
const IGNORED = new Set(['_events', '_eventsCount', '_exiting'])

/** An object's own properties with their flags, as they were when this was made, by references taken then. */
class Snapshot {
  #hasSameValues
  #enumerable = 0
  #symbols = 0

  constructor(object, keys = keysOf(object)) {
    this.object = object
    this.prototype = getPrototypeOf(object)
    this.extensible = isExtensible(object)
    this.keys = keys
    this.properties = keys.map((key) => getOwnPropertyDescriptor(object, key))
  }

  /** The first key that is not as it was, flags included, or undefined. */
  difference() {
    const { object, keys } = this
    if (getPrototypeOf(object) !== this.prototype || isExtensible(object) !== this.extensible) return 'its prototype'
    for (let at = 0; at < keys.length; at += 1) if (!this.isSame(at)) return keys[at]
    return this.addedKey()
  }

  /** Whether all has the values that it had; a tenth of the time, and blind for flags and what has to do with them. */
  isAlike() {
    this.#hasSameValues ??= this.#prepared()
    const { object } = this
    if (getPrototypeOf(object) !== this.prototype || isExtensible(object) !== this.extensible) return false
    if (enumerableKeys(object).length !== this.#enumerable) return false
    return getOwnPropertySymbols(object).length === this.#symbols && this.#hasSameValues(object)
  }

  #prepared() {
    for (let at = 0; at < this.keys.length; at += 1) {
      if (typeof this.keys[at] === 'symbol') this.#symbols += 1
      else if (this.properties[at].enumerable) this.#enumerable += 1
    }
    return comparison(this)
  }

  isSame(at) {
    const now = getOwnPropertyDescriptor(this.object, this.keys[at])
    const before = this.properties[at]
    return now !== undefined && (same(now, before) || this.#adopt(at, now))
  }

  addedKey() {
    const now = keysOf(this.object)
    return now.length === this.keys.length ? undefined : now.find((key) => !this.keys.includes(key))
  }

  /** Node replaces some getters by the value that they gave at their first use: that is no change. */
  #adopt(at, now) {
    if (this.object === process && this.keys[at] === 'chdir' && textOf(now.value).includes('originalChdir(')) {
      // Node's own, from when it has loaded what workers need, which `fetch` does.
      this.properties[at] = now
      return true
    }
    const { get } = this.properties[at]
    if (get === undefined || !('value' in now) || get.call(this.object) !== now.value) return false
    this.properties[at] = now
    return true
  }
}

function keysOf(object) {
  const keys = ownKeys(object)
  return object === process ? keys.filter((key) => !IGNORED.has(key)) : keys
}

function same(now, before) {
  return (
    (now.value === before.value || isNaN(before.value)) &&
    now.get === before.get &&
    now.set === before.set &&
    now.writable === before.writable &&
    now.enumerable === before.enumerable &&
    now.configurable === before.configurable
  )
}

/**
 * One function made for one object: reading every property by its constant name is what the engine does fastest. What can be
 * neither written nor replaced needs no look, nor do the names and lengths of functions, which are most of them. Made after
 * user code ran, so it calls no method that user code could have changed.
 */
function comparison(snapshot) {
  const { object, keys, properties } = snapshot
  const values = []
  let terms = ''
  for (let at = 0; at < keys.length; at += 1) {
    const { value, writable, configurable } = properties[at]
    values[at] = value
    if (typeof object === 'function' && (keys[at] === 'name' || keys[at] === 'length')) continue
    const member = typeof keys[at] === 'symbol' ? `k[${at}]` : stringify(keys[at])
    if (writable === undefined) terms += `&&s.isSame(${at})`
    else if ((writable || configurable) && !isNaN(value)) terms += `&&o[${member}]===v[${at}]`
  }
  return terms === '' ? always : new MadeFunction('s', 'k', 'v', `return (o)=>true${terms}`)(snapshot, keys, values)
}

const always = () => true

module.exports = { Snapshot }
