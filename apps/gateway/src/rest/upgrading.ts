import { Failure } from '@automation/errors'

const RETRY_S = 10

/**
 * What a call answers that services of the release before do not know: while a system is upgraded one of them may be asked.
 * Failure: unavailable, then.
 */
export async function knownByNew<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'unimplemented') throw error
    const text = 'A part of the system is of a release that does not know this yet, try again'
    throw new Failure('unavailable', 'unavailable', text, { cause: error, retryAfterS: RETRY_S })
  }
}
