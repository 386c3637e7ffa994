import type { Failure, FailureKind } from '@automation/errors'

/** The status codes of gRPC. */
export const statusOf: Record<FailureKind, number> = {
  invalid_argument: 3,
  deadline_exceeded: 4,
  not_found: 5,
  already_exists: 6,
  permission_denied: 7,
  resource_exhausted: 8,
  failed_precondition: 9,
  too_large: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
}

/** Carries a Failure beside its status, as JSON. */
export const trailer = 'failure-bin'

// Peers refuse trailers beyond 8 KiB; in base64 this stays below.
const trailerMaxBytes = 5000

/** A failure as JSON, with as many of its fields as the trailer has room for. */
export function encoded(failure: Failure): Buffer {
  const { kind, code, retryAfterS, executionId, requiredScope, present } = failure
  const text = failure.message.slice(0, 1000)
  for (let fields = failure.fields.slice(0, 100); ; fields = fields.slice(0, Math.floor(fields.length / 2))) {
    const sent = { kind, code, text, fields, retryAfterS, executionId, requiredScope, present }
    const bytes = Buffer.from(JSON.stringify(sent))
    if (bytes.length <= trailerMaxBytes || fields.length === 0) return bytes
  }
}

/** The status text travels as a header; other programs read it there, ours reads the trailer. */
export function asciiOf(text: string): string {
  return text.slice(0, 200).replaceAll(/[^\x20-\x7e]/g, '?')
}

/** A Failure as the headers that end a gRPC call, for those who write them themselves. */
export function endingHeaders(failure: Failure): Record<string, string> {
  return {
    'grpc-status': String(statusOf[failure.kind]),
    'grpc-message': encodeURIComponent(asciiOf(failure.message)),
    [trailer]: encoded(failure).toString('base64'),
  }
}
