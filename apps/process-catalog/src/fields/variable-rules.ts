import { invalid } from '@automation/errors'

const form = /^[A-Za-z][A-Za-z0-9_]{0,254}$/
const maxBytes = 64 * 1024

/** What stands for the value of a sensitive variable wherever it is read. */
export const masked = '******'

/** Where a variable's value is sealed: in its own row only. */
export function variableContext(id: string): string {
  return `variable:${id}`
}

/** A variable's key, at `/key`. */
export function variableKey(value: string): string {
  if (value === '') throw invalid('/key', 'is required')
  if (!form.test(value))
    throw invalid('/key', 'must be a letter followed by letters, digits and underscores, at most 255 in all')
  return value
}

/** A variable's value, at `/value`; it goes into the environment of runs, which ends at a NUL. */
export function variableValue(value: string): string {
  if (value.includes('\0')) throw invalid('/value', 'must not contain NUL characters')
  if (Buffer.byteLength(value) > maxBytes) throw invalid('/value', 'must have at most 64 KiB')
  return value
}
