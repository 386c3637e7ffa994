import type { z } from '@hono/zod-openapi'
import { Failure, type FieldFault } from '@automation/errors'
import { faultWords } from './fault-words.ts'

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
