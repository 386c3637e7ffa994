import { Failure } from '@automation/errors'

/** A path or a method on it that this gateway does not have. */
export function noSuchRoute(): Failure {
  return new Failure('not_found', 'not_found', 'There is nothing at this address')
}

export function methodNotAllowed(method: string, allowed: string): Failure {
  return new Failure('unimplemented', 'method_not_allowed', `${method} is not possible here; use ${allowed}`)
}

export function unsupportedMediaType(text: string): Failure {
  return new Failure('invalid_argument', 'unsupported_media_type', text)
}

export function bodyTooLarge(maxBytes: number): Failure {
  return new Failure('too_large', 'body_too_large', `The request body is larger than ${maxBytes} bytes`)
}

export function requestTimeout(): Failure {
  return new Failure('deadline_exceeded', 'request_timeout', 'The request did not arrive in time')
}

export function malformedRequest(text: string, cause?: unknown): Failure {
  return new Failure('invalid_argument', 'malformed_request', text, { cause })
}
