import { Failure, type FailureKind, type FieldFault, type PresentState } from '@automation/errors'
import { Metadata, status, type ServiceError, type StatusObject } from '@grpc/grpc-js'
import { expired } from './context.ts'
import { asciiOf, encoded, statusOf, trailer } from './failure-trailer.ts'
import { asUnreached, notPassedCode, unreachable } from './unreached.ts'

/** A Failure as grpc status and trailer; its cause stays here. */
export function statusFromFailure(failure: Failure): Partial<StatusObject> {
  const metadata = new Metadata()
  metadata.set(trailer, encoded(failure))
  return { code: statusOf[failure.kind], details: asciiOf(failure.message), metadata }
}

/** What a call over the wire threw, as a Failure: the callee's own where it sent one, else what the transport says. */
export function failureFromError(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  const { code, metadata } = thrown as Partial<ServiceError>
  const sent = metadata?.get(trailer)[0]
  if (Buffer.isBuffer(sent)) return failureFromTrailer(sent, thrown)
  switch (code) {
    case status.DEADLINE_EXCEEDED:
      return expired(thrown)
    // Cancelled by nobody here: the peer was shut down.
    case status.CANCELLED:
    case status.UNAVAILABLE:
    // Every failure of ours brings its trailer, so this one is of a connection that broke while the call was under way.
    case status.INTERNAL:
      return unreachable(thrown)
    case status.RESOURCE_EXHAUSTED:
      return tooLarge(thrown)
    case status.UNIMPLEMENTED:
      return absent(thrown)
    default:
      return new Failure('internal', 'internal_error', 'Internal error', { cause: thrown })
  }
}

/** That there is no such operation. */
export function absent(cause?: unknown): Failure {
  return new Failure('unimplemented', 'unimplemented', 'This operation is not part of the system', { cause })
}

/** That a message of a stream is none of its type. */
export function malformed(kind: 'invalid_argument' | 'internal', cause: unknown): Failure {
  return new Failure(kind, 'message_malformed', 'A message of the stream can’t be read', { cause })
}

/** That a message is beyond the limit. */
export function tooLarge(cause?: unknown): Failure {
  return new Failure('too_large', 'message_too_large', 'The message is too large', { cause })
}

/** Code of a call that was refused before anything was done, as its peer does not believe who calls. */
export const notBelievedCode = 'unauthenticated'

interface SentFailure {
  kind: FailureKind
  code: string
  text: string
  fields?: FieldFault[]
  retryAfterS?: number
  executionId?: string
  requiredScope?: string
  present?: PresentState
}

/** The Failure that a peer has sent as JSON. */
export function failureFromTrailer(bytes: Uint8Array, cause: unknown): Failure {
  const sent = parsed(bytes)
  if (sent === undefined || !(sent.kind in statusOf))
    return new Failure('internal', 'internal_error', 'Internal error', { cause })
  const { kind, code, text, fields, retryAfterS, executionId, requiredScope, present } = sent
  const failure = new Failure(kind, code, text, { cause, fields, retryAfterS, executionId, requiredScope, present })
  return code === notPassedCode ? asUnreached(failure) : failure
}

function parsed(bytes: Uint8Array): SentFailure | undefined {
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as SentFailure
  } catch {
    // Not one of ours; the caller makes it an internal failure with the whole error as its cause.
    return undefined
  }
}
