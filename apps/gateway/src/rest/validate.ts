import { Failure, type FieldFault } from '@automation/errors'
import type { z } from '@hono/zod-openapi'

// Nobody reads more of them; a list of ever so many wrong items has one each.
const MAX_FAULTS = 100

/** The value as the schema has it. Failure: invalid_input with the pointer of each fault. */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value, { error: faultWords })
  if (result.success) return result.data
  const issues = result.error.issues.slice(0, MAX_FAULTS)
  throw invalidInput(issues.map((issue) => ({ path: pointerOf(issue.path), message: issue.message })))
}

/** A failure with all faults; its text tells them, too. */
export function invalidInput(fields: FieldFault[]): Failure {
  return new Failure('invalid_argument', 'invalid_input', fields[0]?.message ?? 'The input is not valid', { fields })
}

/** An RFC 6901 pointer. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

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
function faultWords(issue: Issue): string {
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

/** Gives what `work` gives; where that fails, each faulty field is named by the pointer that the caller wrote it at. */
export async function withFaultsAt<T>(work: Promise<T>, pointerFor: (path: string) => string): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof Failure) || error.fields.length === 0) throw error
    const { kind, code, message, cause, retryAfterS, executionId } = error
    throw new Failure(kind, code, message, {
      cause,
      fields: error.fields.map((fault) => ({ ...fault, path: pointerFor(fault.path) })),
      ...(retryAfterS !== undefined && { retryAfterS }),
      ...(executionId !== undefined && { executionId }),
    })
  }
}
