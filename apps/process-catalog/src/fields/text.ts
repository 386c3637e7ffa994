import { invalid } from '@automation/errors'

/** A text as PostgreSQL can keep it, at most `maxChars` characters (code points); else invalid with its path. */
export function text(path: string, value: string, maxChars: number): string {
  if (value.includes('\0')) throw invalid(path, 'must not contain NUL characters')
  // A string has at most as many code points as code units, so most need no count.
  if (value.length > maxChars && [...value].length > maxChars)
    throw invalid(path, `must have at most ${maxChars} characters`)
  return value
}

/** A text that is more than blanks. */
export function requiredText(path: string, value: string | undefined, maxChars: number): string {
  if (value === undefined || value.trim() === '') throw invalid(path, 'is required')
  return text(path, value, maxChars)
}

/** A text for a field that may have none: absent is null. */
export function optionalText(path: string, value: string | undefined, maxChars: number): string | null {
  return value === undefined ? null : text(path, value, maxChars)
}

/** As JSON Pointers write a member's name (RFC 6901). */
export function pointerSegment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
