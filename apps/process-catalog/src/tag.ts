import { invalid } from '@automation/errors'
import { isUuid } from './identifier.ts'

const form = /^[A-Za-z0-9._-]{1,100}$/

/** Whether a version may have this tag, or an alias this name. */
export function isTag(value: string): boolean {
  return form.test(value) && !isUuid(value)
}

/** A version's tag or an alias's name as the caller gave it, at `path`. */
export function tag(path: string, value: string | undefined): string {
  if (value === undefined || value === '') throw invalid(path, 'is required')
  if (isUuid(value)) throw invalid(path, 'must not have the form of an id')
  if (!form.test(value)) throw invalid(path, 'must be 1 to 100 letters, digits, dots, underscores and hyphens')
  return value
}
