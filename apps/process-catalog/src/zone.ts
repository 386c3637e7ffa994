import { invalid } from '@automation/errors'

/** A time zone by its IANA name, in the spelling that every runtime knows; offsets such as `+01:00` are no zones. */
export function zone(path: string, value: string): string {
  const known = /^[A-Za-z]/.test(value) ? resolved(value) : undefined
  if (known === undefined) throw invalid(path, 'must be the IANA name of a time zone, such as Europe/Berlin')
  // An older name of a zone resolves to its present one: the caller's own is kept then.
  return known.toLowerCase() === value.toLowerCase() ? known : value
}

function resolved(timeZone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
