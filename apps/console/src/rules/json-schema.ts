import { Validator, type Schema } from '@cfworker/json-schema'
import { digitsOf } from './exact-json.ts'
import { decoded } from './percent.ts'

/** Of JSON Schema what forms read; all else is left to the validator. */
export interface JsonSchema {
  $ref?: string
  type?: string | string[]
  title?: string
  description?: string
  default?: unknown
  examples?: unknown[]
  const?: unknown
  enum?: unknown[]
  oneOf?: JsonSchema[]
  anyOf?: JsonSchema[]
  allOf?: JsonSchema[]
  format?: string
  properties?: Record<string, JsonSchema | boolean>
  required?: string[]
  additionalProperties?: JsonSchema | boolean
  items?: JsonSchema | boolean
  prefixItems?: (JsonSchema | boolean)[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  readOnly?: boolean
}

/** A schema behind its references, which stay inside the whole; `{}` where there is none. */
export function resolved(schema: JsonSchema | boolean | undefined, whole: JsonSchema, depth = 0): JsonSchema {
  if (typeof schema !== 'object') return {}
  if (schema.$ref === undefined || depth > 16) return schema
  if (!schema.$ref.startsWith('#')) return schema
  let found: unknown = whole
  for (const part of schema.$ref.slice(1).split('/').slice(1)) {
    const key = decoded(part)?.replaceAll('~1', '/').replaceAll('~0', '~')
    found =
      typeof found === 'object' && found !== null && key !== undefined
        ? (found as Record<string, unknown>)[key]
        : undefined
  }
  return { ...resolved(found as JsonSchema | undefined, whole, depth + 1), ...schema, $ref: undefined }
}

/** Parameters whose fields of the format `password`, at any depth, are named, not told. */
export const withoutSecrets = (schema: JsonSchema | null, value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (withSecretsAs('SECRET', value, schema ?? {}) as Record<string, unknown>)
    : {}

/** Parameters as they may be kept in a browser: JSON without the fields of the format `password`. */
export const keptParameters = (schema: JsonSchema | null, value: unknown): string =>
  JSON.stringify(withSecretsAs(undefined, value, schema ?? {})) ?? '{}'

function withSecretsAs(
  instead: string | undefined,
  value: unknown,
  whole: JsonSchema,
  schemas: (JsonSchema | boolean | undefined)[] = [whole],
): unknown {
  const all = branches(schemas, whole)
  if (all.some(({ format }) => format === 'password')) return instead
  if (typeof value !== 'object' || value === null || digitsOf(value) !== undefined) return value
  if (Array.isArray(value)) {
    const of = (at: number) => all.map(({ prefixItems, items }) => prefixItems?.[at] ?? items)
    return value.map((one, at) => withSecretsAs(instead, one, whole, of(at))).filter((one) => one !== undefined)
  }
  const of = (name: string) =>
    all.map(({ properties, additionalProperties }) => properties?.[name] ?? additionalProperties)
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, withSecretsAs(instead, one, whole, of(name))]),
  )
}

/** Schemas and those that they are put together from, behind their references: each once, as they may refer to each other. */
function branches(schemas: (JsonSchema | boolean | undefined)[], whole: JsonSchema): JsonSchema[] {
  const all = new Map<JsonSchema | boolean | undefined, JsonSchema>()
  const open = [...schemas]
  for (let schema = open.pop(); schema !== undefined || open.length > 0; schema = open.pop()) {
    if (all.has(schema)) continue
    const one = resolved(schema, whole)
    all.set(schema, one)
    open.push(...[one.anyOf, one.oneOf, one.allOf].flatMap((list) => list ?? []))
  }
  return [...all.values()]
}

type FieldKind = 'text' | 'number' | 'boolean' | 'choice' | 'object' | 'list' | 'json'

/** As what a form shows a schema; `json` where only JSON can say it. */
export function kindOf(schema: JsonSchema): FieldKind {
  if (choicesOf(schema) !== undefined) return 'choice'
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null')
  if (types.length === 0 && schema.properties !== undefined) return 'object'
  if (types.length !== 1) return 'json'
  if (types[0] === 'string') return 'text'
  if (types[0] === 'number' || types[0] === 'integer') return 'number'
  if (types[0] === 'boolean') return 'boolean'
  if (types[0] === 'array' && typeof schema.items === 'object') return 'list'
  return types[0] === 'object' && schema.properties !== undefined ? 'object' : 'json'
}

interface Choice {
  value: unknown
  name: string
}

/** What can be chosen, by `enum` or by constants with titles. */
export function choicesOf({ enum: values, oneOf, anyOf }: JsonSchema): Choice[] | undefined {
  if (values !== undefined) return values.map((value) => ({ value, name: nameOf(value) }))
  const options = oneOf ?? anyOf
  if (options === undefined || !options.every((option) => 'const' in option)) return undefined
  return options.map(({ const: value, title }) => ({ value, name: title ?? nameOf(value) }))
}

const nameOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Where a schema stands in a form: the references within which it is, and how many levels of objects may still follow. */
export interface Above {
  references: readonly string[]
  levels: number
}

/**
 * Fields beyond which a form shows no further level: schemas that refer to each other make each level a multiple of the one
 * before.
 */
const MOST_FIELDS = 500
const MOST_LEVELS = 12

/** Where the whole of a schema stands. */
export function aboveAll(whole: JsonSchema): Above {
  const above = { references: ['#'], levels: MOST_LEVELS }
  let level: [schema: JsonSchema, above: Above][] = [[whole, above]]
  let fields = 0
  for (let levels = 0; level.length > 0; levels += 1) {
    const members = level.flatMap(([schema, within]) =>
      Object.values(schema.properties ?? {}).map((member) => [member, within] as const),
    )
    fields += members.length
    if (fields > MOST_FIELDS && levels > 0) return { ...above, levels: levels - 1 }
    level = members.flatMap(([member, within]) => {
      const schema = resolved(member, whole)
      const inner = aboveOf(member, within)
      return inner !== null && kindOf(schema) === 'object' ? [[schema, inner] as [JsonSchema, Above]] : []
    })
  }
  return above
}

/** Where its members stand; null where they would begin anew what they are in, without an end, or be too many. */
export function aboveOf(schema: JsonSchema | boolean | undefined, { references, levels }: Above): Above | null {
  const reference = typeof schema === 'object' ? schema.$ref : undefined
  if (levels === 0 || (reference !== undefined && references.includes(reference))) return null
  return { references: reference === undefined ? references : [...references, reference], levels: levels - 1 }
}

/** What a form begins with: the defaults of a schema, and objects for what has properties. */
export function startOf(
  schema: JsonSchema,
  whole: JsonSchema = schema,
  above: Above | null = aboveAll(whole),
): unknown {
  if (schema.default !== undefined) return schema.default
  if (kindOf(schema) !== 'object' || above === null) return undefined
  const members = Object.entries(schema.properties ?? {}).map(
    ([key, member]) => [key, startOf(resolved(member, whole), whole, aboveOf(member, above))] as const,
  )
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

/** What a value has against its schema, by JSON pointer. A schema that can't be read finds nothing: the service says it. */
export function faultsOf(schema: JsonSchema, value: unknown): Map<string, string> {
  const faults = new Map<string, string>()
  try {
    const { errors } = new Validator(asNumbers(schema) as Schema, '2020-12', false).validate(asNumbers(value))
    for (const { instanceLocation, keyword, error } of errors) {
      if (COMBINING.has(keyword)) continue
      const missing = keyword === 'required' ? /required property "(.*)"/.exec(error)?.[1] : undefined
      const pointer = instanceLocation.slice(1) + (missing === undefined ? '' : `/${missing}`)
      if (!faults.has(pointer)) faults.set(pointer, missing === undefined ? error : 'This is needed')
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
  }
  return faults
}

/** A value with all of its numbers as JavaScript has them. */
const asNumbers = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown)

/** Keywords that only say that something below them failed. */
const COMBINING = new Set(['properties', 'items', 'allOf', '$ref', 'prefixItems', 'additionalProperties'])
