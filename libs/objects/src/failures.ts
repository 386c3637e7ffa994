import { Failure, unavailable } from '@automation/errors'

/** There is nothing under a key. */
export function objectMissing(key: string, cause?: unknown): Failure {
  return new Failure('not_found', 'object_missing', 'The content is not there', { cause: cause ?? key })
}

/** A content that is not as long as it was said to be. */
export function wrongSize(said: number, was: number): Failure {
  return new Failure('invalid_argument', 'wrong_size', `The content has ${was} bytes, not ${said}`)
}

/** A content that is larger than one may be whose size was not said before. */
export function sizeNeeded(mostBytes: number): Failure {
  const text = `A content of more than ${Math.floor(mostBytes / 2 ** 30)} GiB must come with its size, or in parts`
  return new Failure('too_large', 'object_too_large', text)
}

/** The store does not answer, or takes nothing. */
export function storeAway(cause: unknown): Failure {
  return unavailable('The object store is not available, try again', cause)
}

/** There is no room in the store. */
export function storeFull(cause: unknown): Failure {
  return new Failure('unavailable', 'object_store_full', 'The object store has no room left', {
    cause,
    retryAfterS: 60,
  })
}

/** The store did not go on in time: what it was given last may still be kept, later. */
export class StoreStalled extends Error {}

/** Whether this failure left the store with something that may still arrive. */
export function isStall(failure: unknown): boolean {
  return failure instanceof Failure && failure.cause instanceof StoreStalled
}
