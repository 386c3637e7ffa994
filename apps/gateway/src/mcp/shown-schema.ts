import { isObject } from '../http/json.ts'
import { teamText } from './team-text.ts'

export type JsonObject = Record<string, unknown>

/** A schema that stands where a tool's input is described. */
export interface InputSchema extends JsonObject {
  type: 'object'
  properties?: JsonObject
  required?: string[]
}

const mostBytes = 64 * 1024

/** Keywords that hold a schema, several of them, and schemas by names of others' choice. */
const ofOne = [
  'items',
  'additionalItems',
  'additionalProperties',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contentSchema',
]
const ofMany = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']
const byName = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']
const plain = [
  '$schema',
  '$id',
  '$anchor',
  'type',
  'enum',
  'const',
  'default',
  'format',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minContains',
  'maxContains',
  'minProperties',
  'maxProperties',
  'required',
  'dependentRequired',
  'contentEncoding',
  'contentMediaType',
  'deprecated',
  'readOnly',
  'writeOnly',
  'examples',
]

/**
 * A JSON Schema with the keywords of JSON Schema alone: hints of forms and words of others are left out, and texts are as
 * `teamText` has them. `root` is the pointer of the place where it will stand.
 */
export function withoutHints(schema: unknown, root = ''): unknown {
  if (!isObject(schema)) return schema
  const shown: JsonObject = {}
  const walk = (inner: unknown) => withoutHints(inner, root)
  for (const [key, value] of Object.entries(schema)) {
    if (plain.includes(key)) shown[key] = value
    else if (key === '$ref') shown[key] = typeof value === 'string' ? value.replace(/^#/, `#${root}`) : value
    else if (key === 'title' || key === 'description')
      shown[key] = typeof value === 'string' ? teamText(value) : undefined
    else if (byName.includes(key) && isObject(value))
      shown[key] = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one)]))
    else if (ofMany.includes(key) && Array.isArray(value)) shown[key] = value.map(walk)
    else if (ofOne.includes(key)) shown[key] = walk(value)
  }
  return shown
}

/** Whether the tool of a process with this schema takes its parameters one by one, and not as one value. */
export function takesMembers(schema: unknown): boolean {
  if (schema === undefined || schema === null) return true
  return (
    isObject(schema) &&
    (schema['type'] === 'object' || (schema['type'] === undefined && isObject(schema['properties'])))
  )
}

/** What the tool of a process takes. Any object where there is no schema, or one that is too long to be shown. */
export function inputSchemaOf(schema: unknown): InputSchema {
  if (takesMembers(schema)) {
    const shown = { ...(withoutHints(schema ?? {}) as JsonObject), type: 'object' as const }
    return isShort(shown) ? shown : { type: 'object' }
  }
  const parameters = withoutHints(schema, '/properties/parameters')
  const shown = { type: 'object' as const, properties: { parameters }, required: ['parameters'] }
  return isShort(shown) ? shown : { ...shown, properties: { parameters: {} } }
}

function isShort(schema: object): boolean {
  return JSON.stringify(schema).length <= mostBytes
}
