import { Failure } from '@automation/errors'

/** A path or a method on it that this gateway does not have. */
export function noSuchRoute(): Failure {
  const text =
    'There is nothing at this address. REST begins with /api/{team}/rest, webhooks with /api/{team}/webhooks; /docs has all addresses'
  return new Failure('not_found', 'not_found', text)
}

/** 405; `allowed` are the methods, as the header Allow has them. */
export function methodNotAllowed(method: string, allowed: string): Failure {
  return new Failure('unimplemented', 'method_not_allowed', `${method} is not possible here; use ${allowed}`)
}

/** 415. */
export function unsupportedMediaType(text: string): Failure {
  return new Failure('invalid_argument', 'unsupported_media_type', text)
}

/** 413. */
export function bodyTooLarge(maxBytes: number): Failure {
  return new Failure('too_large', 'body_too_large', `The request body is larger than ${maxBytes} bytes`)
}

/** 413 for a text that grows beyond the bound where it is written as JSON, as runs get it. */
export function bodyTooLargeAsJson(mostBytes: number): Failure {
  const text = `The request body has more than ${mostBytes} bytes as JSON, where a control character takes six`
  const instead = 'send it as application/octet-stream, or upload it to the object store and send its name'
  return new Failure('too_large', 'body_too_large', `${text}: ${instead}`)
}

/** 408: the request did not come whole in time. */
export function requestTimeout(): Failure {
  return new Failure('deadline_exceeded', 'request_timeout', 'The request did not arrive in time')
}

/** 400 for what is no proper HTTP. */
export function malformedRequest(text: string, cause?: unknown): Failure {
  return new Failure('invalid_argument', 'malformed_request', text, { cause })
}
