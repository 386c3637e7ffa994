import { isNumberText } from '../exact-json.ts'
import { isRecord } from './canonical-json.ts'
import type { Schema } from './file-schemas.ts'

/** A fault of a file of the project. */
export interface Fault {
  /** From the folder of pas.yaml. */
  path: string
  message: string
}

/** What is wrong with a value: one sentence a fault, beginning with where it is. */
export function checkValue(value: unknown, schema: Schema, at = ''): string[] {
  const types = schema.type === undefined ? [] : [schema.type].flat()
  const place = at === '' ? 'The file' : at
  if (types.length > 0 && !types.includes(typeOf(value, types))) return [`${place} must be ${types.join(' or ')}`]
  if (Array.isArray(value))
    return value.flatMap((item, index) => (schema.items ? checkValue(item, schema.items, `${at}[${index}]`) : []))
  if (typeof value === 'string' && schema.pattern !== undefined && !new RegExp(schema.pattern).test(value))
    return [`${place} must match ${schema.pattern}`]
  return isRecord(value) ? checkMembers(value, schema, at) : []
}

function checkMembers(value: Record<string, unknown>, schema: Schema, at: string): string[] {
  const missing = (schema.required ?? []).filter((name) => value[name] === undefined)
  const inner = Object.entries(value).flatMap(([name, member]) => {
    const place = at === '' ? name : `${at}.${name}`
    const own = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined
    const other = own ?? schema.additionalProperties
    if (other === undefined || other === true) return []
    if (other !== false) return checkValue(member, other, place)
    return [`${place} is not known; known are ${Object.keys(schema.properties ?? {}).join(', ')}`]
  })
  return [...missing.map((name) => `${at === '' ? name : `${at}.${name}`} is missing`), ...inner]
}

function typeOf(value: unknown, wanted: readonly string[]): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  const isText = isNumberText(value)
  const isWhole = isText ? /^-?\d+$/.test(JSON.stringify(value)) : Number.isInteger(value)
  if (isWhole && wanted.includes('integer')) return 'integer'
  return isText ? 'number' : typeof value
}
