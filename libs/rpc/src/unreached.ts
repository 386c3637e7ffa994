import { Failure } from '@automation/errors'

const unreached = new WeakSet<Failure>()

/**
 * Whether a call failed because its peer could not be reached, or went away, or could not pass it on; a peer that answers
 * `unavailable` was.
 */
export function isUnreachable(failure: Failure): boolean {
  return unreached.has(failure)
}

/** Marks a failure as one whose peer could not be reached. */
export function asUnreached(failure: Failure): Failure {
  unreached.add(failure)
  return failure
}

/** Code of a call that its peer could not pass on. */
export const notPassedCode = 'not_passed_on'

/** For who passes calls on: what the caller is told where what is behind could not be reached is that it was not. */
export function notPassedOn(failure: Failure): Failure {
  if (!isUnreachable(failure)) return failure
  return new Failure('unavailable', notPassedCode, failure.message, { cause: failure, retryAfterS: 1 })
}

/** That its peer could not be reached, or went away. */
export function unreachable(cause: unknown): Failure {
  const text = 'A part of the system is not available, try again'
  return asUnreached(new Failure('unavailable', 'unavailable', text, { cause, retryAfterS: 1 }))
}
