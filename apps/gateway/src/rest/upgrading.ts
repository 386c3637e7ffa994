import { Failure } from '@automation/errors'

const RETRY_S = 10

/** As callers are told of it: while a system is upgraded, a service of the release before may be asked for what it does not know. */
export function duringUpgrade(failure: Failure): Failure {
  if (failure.code !== 'unimplemented') return failure
  const text = 'A part of the system is of a release that does not know this yet, try again'
  return new Failure('unavailable', 'unavailable', text, { cause: failure, retryAfterS: RETRY_S })
}
