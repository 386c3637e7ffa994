import { isDeeperThan } from '@automation/contract/json-text'

type Json = Record<string, unknown>

/** A JSON number, also with a plus sign or zeros before it, as people type them. */
const numeral = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/
const truth = new Map([
  ...['true', '1', 'on'].map((text) => [text, true] as const),
  ...['false', '0', 'off'].map((text) => [text, false] as const),
])

/**
 * Gives the texts of a query or a form the types that a JSON Schema names for them: numbers, booleans, null, objects, which
 * are JSON, and lists where a name came once, which may be JSON where none of their items may be a text. A text stays one
 * where the schema allows texts, or where it reads as nothing that is allowed: then the schema's own check has the word.
 * Changes `fields`; says whether it did.
 */
export function typeTexts(fields: Json, schema: unknown): boolean {
  const branches = branchesOf([schema], schema)
  let hasChanged = false
  for (const [name, value] of Object.entries(fields)) {
    const typed = typedValue(value, memberSchemas(name, branches), schema)
    if (typed === value) continue
    fields[name] = typed
    hasChanged = true
  }
  return hasChanged
}

function typedValue(value: unknown, schemas: unknown[], root: unknown): unknown {
  const branches = branchesOf(schemas, root)
  const types = typesOf(branches)
  if (Array.isArray(value)) {
    const typed = value.map((item: unknown, at) => typedItem(item, at, branches, root))
    return types.has('array') && typed.some((item, at) => item !== value[at]) ? typed : value
  }
  const isText = typeof value === 'string'
  if (isText && types.has('string')) return value
  const list = isText && types.has('array') ? listIn(value, branches, root) : undefined
  if (list !== undefined) return list
  const typed = isText ? typedText(value, types) : value
  const isList = types.has('array') && typed === value && (isText || !types.has('object'))
  return isList ? [typedItem(value, 0, branches, root)] : typed
}

function typedItem(item: unknown, at: number, branches: Json[], root: unknown): unknown {
  return typeof item === 'string' ? typedValue(item, itemSchemas(at, branches), root) : item
}

/** What the branches say of an item of a list. */
function itemSchemas(at: number, branches: Json[]): unknown[] {
  return branches.flatMap((branch) => {
    // Draft-07 has the items of a tuple where 2020-12 has those behind it.
    const { prefixItems, items, additionalItems } = branch
    const [first, others] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items]
    return [Array.isArray(first) && at < first.length ? (first[at] as unknown) : others]
  })
}

/**
 * The list that a text has as JSON; undefined where it has none, where an item may be a text as this one is, and where it
 * is the only item of a list of lists.
 */
function listIn(text: string, branches: Json[], root: unknown): unknown[] | undefined {
  const types = typesOf(branchesOf(itemSchemas(0, branches), root))
  if (types.size === 0 || types.has('string')) return undefined
  const value = jsonIn(text.trim(), '[')
  if (!Array.isArray(value)) return undefined
  const isAllowed = (item: unknown) => types.has(typeOf(item)) || (typeof item === 'number' && types.has('integer'))
  return types.has('array') && !value.every(isAllowed) ? undefined : value
}

function typedText(text: string, types: Set<string>): unknown {
  const trimmed = text.trim()
  if ((types.has('number') || types.has('integer')) && numeral.test(trimmed)) {
    const number = Number(trimmed)
    // A whole number that would lose digits stays a text, for the check to refuse.
    if (keepsDigits(number)) return number
  }
  if (types.has('boolean')) {
    const value = truth.get(trimmed.toLowerCase())
    if (value !== undefined) return value
  }
  if (types.has('null') && (trimmed === '' || trimmed === 'null')) return null
  return (types.has('object') && (jsonIn(trimmed, '{') as Json | undefined)) || text
}

/** What a text that begins so has as JSON; undefined where it has none, none that bodies may have, or what would lose digits. */
function jsonIn(text: string, begin: '{' | '['): unknown {
  if (!text.startsWith(begin) || isDeeperThan(text)) return undefined
  try {
    // A reviver takes much longer, and few numbers have so many digits.
    return JSON.parse(text, /\d{16}|\de/i.test(text) ? withAllDigits : undefined)
  } catch {
    return undefined
  }
}

function withAllDigits(_: string, member: unknown): unknown {
  if (typeof member === 'number' && !keepsDigits(member)) throw new RangeError('It would lose digits')
  return member
}

const keepsDigits = (number: number): boolean =>
  Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number))

/** The schemas and all that stand for them or beside them by `$ref`, `allOf`, `anyOf`, `oneOf`; each once. */
function branchesOf(schemas: unknown[], root: unknown): Json[] {
  const found = new Set<Json>()
  const open = [...schemas]
  for (let schema = open.pop(); open.length > 0 || schema !== undefined; schema = open.pop()) {
    if (!isObject(schema) || found.has(schema)) continue
    found.add(schema)
    if (typeof schema['$ref'] === 'string') open.push(at(schema['$ref'], root))
    for (const many of ['allOf', 'anyOf', 'oneOf']) if (Array.isArray(schema[many])) open.push(...schema[many])
  }
  return [...found]
}

/** What the branches say of a member: by its name, else of all others. */
function memberSchemas(name: string, branches: Json[]): unknown[] {
  return branches.flatMap(({ properties, additionalProperties }) => {
    if (isObject(properties) && Object.hasOwn(properties, name)) return [properties[name]]
    return additionalProperties === undefined ? [] : [additionalProperties]
  })
}

/** The types that any branch allows; where it names none, those of the values that it lists, or an object where it has properties. */
function typesOf(branches: Json[]): Set<string> {
  const types = new Set<string>()
  for (const { type, nullable, const: only, enum: several, properties } of branches) {
    if (nullable === true) types.add('null')
    if (type !== undefined) for (const each of [type].flat()) types.add(`${each as string}`)
    else if (Array.isArray(several)) for (const value of several) types.add(typeOf(value))
    else if (only !== undefined) types.add(typeOf(only))
    else if (isObject(properties)) types.add('object')
  }
  return types
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** What a reference into the same schema (`#/$defs/size`) leads to. */
function at(reference: string, root: unknown): unknown {
  if (!reference.startsWith('#')) return undefined
  let found: unknown = root
  for (const segment of reference.slice(1).split('/').slice(1)) {
    const name = decoded(segment).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Json)[name]
  }
  return found
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
