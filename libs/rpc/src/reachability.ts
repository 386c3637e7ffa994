import type { Failure } from '@automation/errors'

const unreached = new WeakSet<Failure>()
const unsent = new WeakSet<Failure>()

// What @grpc/grpc-js says of calls that it had no connection for; nothing but its words tells them from others.
const notSent =
  /^(?:(?:round_robin: )?No connection established|Name resolution failed|Channel closed before call started)/

/** Notes of a failure that no peer answered: the transport made it, and said this. */
export function unreachable(failure: Failure, words: string): Failure {
  unreached.add(failure)
  if (notSent.test(words)) unsent.add(failure)
  return failure
}

/** Whether a call failed before its peer had any of it, so that it may be made again whatever it does. */
export function isUnsent(failure: Failure): boolean {
  return unsent.has(failure)
}

/** Whether a call failed because its peer could not be reached, or went away; a peer that answers `unavailable` was. */
export function isUnreachable(failure: Failure): boolean {
  return unreached.has(failure)
}
