/** What a validator of JSON Schema (ajv, with `verbose` and `allErrors`) says of one fault. */
export interface SchemaError {
  instancePath: string
  schemaPath: string
  keyword: string
  params: Record<string, unknown>
  /** Where the name of a member is at fault, and not its value. */
  propertyName?: string
  /** What the keyword has in the schema. */
  schema?: unknown
  /** The value that is at fault. */
  data?: unknown
}

const longestText = 100
const longestList = 20

const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

const FORMATS: Record<string, string> = {
  email: 'an email address',
  'date-time': 'a date and time such as 2026-01-31T09:30:00Z',
  date: 'a date such as 2026-01-31',
  time: 'a time such as 09:30:00Z',
  duration: 'a duration such as P1DT12H',
  uri: 'a URI such as https://example.com/a',
  'uri-reference': 'a URI or a part of one',
  url: 'a URL such as https://example.com/a',
  uuid: 'a UUID',
  hostname: 'a host name',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  regex: 'a regular expression',
  'json-pointer': 'a JSON pointer',
  byte: 'base64',
  int32: 'a whole number of 32 bits',
  int64: 'a whole number of 64 bits',
}

const LIMITS: Record<string, [which: string, unit: string]> = {
  minLength: ['at least', 'character'],
  maxLength: ['at most', 'character'],
  minItems: ['at least', 'item'],
  maxItems: ['at most', 'item'],
  items: ['at most', 'item'],
  additionalItems: ['at most', 'item'],
  minProperties: ['at least', 'member'],
  maxProperties: ['at most', 'member'],
}

const COMPARISONS: Record<string, string> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'greater than',
  '<': 'less than',
}

/** What the value may be, where the fault is that it is something else: to be put behind "must be". */
export function nounsOf({ keyword, params }: SchemaError): string[] {
  switch (keyword) {
    case 'type':
      return [params['type']].flat().map((type) => TYPES[String(type)] ?? String(type))
    case 'enum':
      return [oneOf(params['allowedValues'] as unknown[])]
    case 'const':
      return [quoted(params['allowedValue'])]
    case 'format': {
      const format = String(params['format'])
      return [(Object.hasOwn(FORMATS, format) && FORMATS[format]) || `of the format ${quoted(format)}`]
    }
    default:
      return []
  }
}

/** What is wrong with a value, in words that go on from the name of its field. */
export function schemaWords(error: SchemaError): string {
  const { keyword, params } = error
  const nouns = nounsOf(error)
  if (nouns.length > 0) return mustBe(nouns, keyword === 'type' ? error : undefined)
  const limit = LIMITS[keyword]
  if (limit !== undefined) return `must have ${limit[0]} ${counted(params['limit'], limit[1])}`
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'dependentRequired':
    case 'dependencies':
      return `is required beside ${quoted(params['property'])}`
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'is not known'
    case 'unevaluatedItems':
      return `must have at most ${counted(params['len'], 'item')}`
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `must be ${COMPARISONS[String(params['comparison'])]} ${String(params['limit'])}`
    case 'multipleOf':
      return `must be a multiple of ${String(params['multipleOf'])}`
    case 'pattern':
      return `must match the pattern ${quoted(params['pattern'])}`
    case 'uniqueItems': {
      const [first, second] = [Number(params['i']), Number(params['j'])].toSorted((a, b) => a - b)
      return `must not have the same item twice (items ${first} and ${second})`
    }
    case 'contains':
      return `must have ${itemsLike(params)} as the schema asks for`
    case 'not':
      return 'must not be what the schema excludes'
    case 'false schema':
      return 'must not be given'
    case 'anyOf':
      return 'must match one of the forms that the schema names'
    case 'oneOf':
      return 'must match exactly one of the forms that the schema names'
    default:
      return `is not valid by ${quoted(keyword)} of the schema`
  }
}

/** `must be a, b or c`, each once; with what the value of `error` is in place of that. */
export function mustBe(nouns: string[], error?: SchemaError): string {
  const each = [...new Set(nouns)]
  const last = each.pop() ?? ''
  const but = error !== undefined && 'data' in error ? `, not ${kindOf(error.data)}` : ''
  return `must be ${each.length === 0 ? last : `${each.join(', ')} or ${last}`}${but}`
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction'
  return typeof value === 'boolean' ? String(value) : (TYPES[typeof value] ?? typeof value)
}

function oneOf(values: unknown[]): string {
  const listed = values.slice(0, longestList).map(quoted).join(', ')
  if (values.length === 1) return listed
  return `one of ${listed}${values.length > longestList ? ` and ${values.length - longestList} more` : ''}`
}

function itemsLike({ minContains, maxContains }: Record<string, unknown>): string {
  const least = `at least ${counted(minContains, 'item')}`
  return maxContains === undefined ? least : `${least} and at most ${Number(maxContains)}`
}

function counted(count: unknown, unit: string): string {
  return `${String(count)} ${unit}${count === 1 ? '' : 's'}`
}

function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text
}
