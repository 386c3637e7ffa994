import type { Failure } from '@automation/errors'

const unreached = new WeakSet<Failure>()

/** Notes of a failure that no peer answered: the transport made it. */
export function unreachable(failure: Failure): Failure {
  unreached.add(failure)
  return failure
}

/** Whether a call failed because its peer could not be reached, or went away; a peer that answers `unavailable` was. */
export function isUnreachable(failure: Failure): boolean {
  return unreached.has(failure)
}
