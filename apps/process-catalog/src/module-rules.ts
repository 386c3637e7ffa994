import { invalid } from '@automation/errors'
import { limits } from './limits.ts'

const form = /^[\p{L}\p{N}_$-][\p{L}\p{N}\p{M}_$.-]*$/u

/** Whether a module may have this name: letters, digits, `_`, `$`, dashes, and dots but at its beginning. */
export function isModuleName(value: string): boolean {
  return value.length <= limits.name && form.test(value)
}

/** A module's name, at `/name`. */
export function moduleName(value: string | undefined): string {
  if (value === undefined || value === '') throw invalid('/name', 'is required')
  if (value.length > limits.name) throw invalid('/name', `must have at most ${limits.name} characters`)
  if (!form.test(value))
    throw invalid('/name', 'must be letters, digits, underscores, dashes, and dots that it does not begin with')
  return value
}
