import type { z } from '@hono/zod-openapi'
import { Failure, type FieldFault } from '@automation/errors'

/** The value as the schema has it. Failure: invalid_input with the pointer of each fault. */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const fields = result.error.issues.map((issue) => ({ path: pointerOf(issue.path), message: issue.message }))
  throw invalidInput(fields)
}

/** A failure with several faults; its text names the first. */
export function invalidInput(fields: FieldFault[]): Failure {
  const [first] = fields
  const more = fields.length > 1 ? ` (and ${fields.length - 1} more)` : ''
  const where = first === undefined || first.path === '' ? 'The request body' : first.path
  return new Failure('invalid_argument', 'invalid_input', `${where}: ${first?.message ?? 'invalid'}${more}`, { fields })
}

/** An RFC 6901 pointer. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
