import type { z } from '@hono/zod-openapi'

type Issue = Parameters<NonNullable<z.core.$ZodErrorMap>>[0]

const KINDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
}

/** What is wrong with a value, in words that go on from the name of its field. */
export function faultWords(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is required'
        : `must be ${KINDS[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}`
    case 'invalid_value':
      return `must be ${oneOf(issue.values.map(String))}`
    case 'too_small':
      return `must ${bound('at least', issue.minimum, issue.origin)}`
    case 'too_big':
      return `must ${bound('at most', issue.maximum, issue.origin)}`
    case 'unrecognized_keys':
      return `must not have ${issue.keys.join(', ')}`
    case 'invalid_format':
      return `must be a valid ${issue.format.replaceAll('_', ' ')}`
    default:
      return 'is not valid'
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction'
  return typeof value === 'boolean' ? String(value) : (KINDS[typeof value] ?? typeof value)
}

function oneOf(values: string[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`
}

function bound(which: string, limit: number | bigint, origin: string): string {
  if (origin === 'string') return `have ${which} ${limit} characters`
  return origin === 'array' || origin === 'set' ? `have ${which} ${limit} items` : `be ${which} ${limit}`
}
