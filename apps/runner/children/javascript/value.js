'use strict'

const { stringify } = JSON
const { inspect } = require('node:util')

const TRANSIENT_MARKS = new Set(['isTransient', 'transient'])
const RESPONSE_KEYS = new Set(['status', 'headers', 'body', 'data'])

const PLACE_MAX_CHARACTERS = 200

/**
 * The return value of a run as JSON text: `{ text, transient }`. `undefined` is null. Throws an error that says in words
 * why a value has no JSON form, or that it is larger than `maxBytes`.
 */
function serialise(value, maxBytes) {
  const delivered = transientOf(value)
  const text = jsonOf(delivered === undefined ? value : delivered.value)
  if (text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes))
    throw new RangeError(`The return value has more than the ${maxBytes} bytes of JSON that a run may return`)
  return { text, transient: delivered !== undefined }
}

/**
 * What is delivered of `{isTransient: true, body}` or `{transient: true, data}`: the body alone, or, when the object
 * describes a response, that response without the mark. A numeric status does so whatever else is there, which the gateway
 * tells as left out.
 */
function transientOf(value) {
  if (value === null || typeof value !== 'object') return undefined
  const body = value.isTransient === true && 'body' in value ? 'body' : undefined
  const key = body ?? (value.transient === true && 'data' in value ? 'data' : undefined)
  if (key === undefined) return undefined
  const others = Object.keys(value).filter((each) => !TRANSIENT_MARKS.has(each))
  const isResponse = typeof value.status === 'number' || others.every((each) => RESPONSE_KEYS.has(each))
  if (others.length === 1 || !isResponse) return { value: value[key] }
  const kept = others.filter((each) => each !== 'data').map((each) => [each, value[each]])
  return { value: { ...Object.fromEntries(kept), body: value[key] } }
}

function jsonOf(value) {
  if (value === undefined) return 'null'
  let text
  try {
    text = stringify(value)
  } catch (error) {
    throw new TypeError(`The return value can't be written as JSON: ${reasonOf(error)}${placeOfBigInt(value)}`)
  }
  if (text !== undefined) return text
  throw new TypeError(`The return value can't be written as JSON: it is ${inspect(value, { depth: 0 })}`)
}

/** Where the first BigInt is, in words; empty where that is the value itself, or it is not the fault. */
function placeOfBigInt(value) {
  const places = new Map()
  let place
  try {
    stringify(value, function (key, each) {
      const holder = places.get(this)
      const own = holder === undefined ? '' : holder + memberOf(this, key, holder)
      place = typeof each === 'bigint' ? own : undefined
      if (typeof each === 'object') places.set(each, own)
      return each
    })
  } catch {
    return place ? `, at ${place.slice(0, PLACE_MAX_CHARACTERS)}` : ''
  }
  return ''
}

function memberOf(holder, key, place) {
  if (Array.isArray(holder)) return `[${key}]`
  if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key)) return `[${stringify(key)}]`
  return place === '' ? key : `.${key}`
}

function reasonOf(error) {
  if (error instanceof RangeError && /call stack/i.test(error.message)) return 'it is nested too deeply'
  return error instanceof Error ? error.message : inspect(error)
}

module.exports = { serialise }
