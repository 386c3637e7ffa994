import { STATUS_CODES } from 'node:http'
import type { Failure, FailureKind } from '@automation/errors'
import { textOf } from '@automation/errors/failure-text'
import type { Answer, AnswerHeaders } from './exchange.ts'

const STATUS_BY_KIND: Record<FailureKind, number> = {
  invalid_argument: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  already_exists: 409,
  failed_precondition: 400,
  too_large: 413,
  resource_exhausted: 429,
  unavailable: 503,
  deadline_exceeded: 504,
  unimplemented: 501,
  internal: 500,
}

const passing = new Set([429, 503, 504])

/** Codes that HTTP has a status of its own for. */
const STATUS_BY_CODE: Record<string, number> = {
  method_not_allowed: 405,
  request_timeout: 408,
  precondition_failed: 412,
  changed_meanwhile: 412,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  expectation_failed: 417,
  headers_too_large: 431,
  execution_failed: 500,
  execution_killed: 500,
  execution_timeout: 408,
  webhook_answer_invalid: 500,
  port_closed: 502,
  port_reset: 502,
  port_failed: 502,
  sandbox_unreachable: 502,
}

/** The HTTP status of a failure. */
export function statusOf(failure: Failure): number {
  return STATUS_BY_CODE[failure.code] ?? STATUS_BY_KIND[failure.kind]
}

/** Where a failure happened, as far as the caller may know. */
interface Occasion {
  requestId: string
  /** Path of the request, without its query. */
  path: string
  /** Such as `Svc-Execution-ID`. */
  executionIdHeader: string
  /** What HTTP Basic is asked for: browsers keep a password for each. */
  realm?: string
  /** Where a client learns how to get a token (RFC 9728). */
  metadataUrl?: string | undefined
  /** The header Accept of the request, where there may be a choice. */
  accept?: string | undefined
}

/** The problem (RFC 9457) that a caller sees for a failure. Shows the public text only, never the cause. */
export function problemAnswer(failure: Failure, occasion: Occasion, headers: AnswerHeaders = {}): Answer {
  const status = statusOf(failure)
  const text = textOf(failure)
  const oauth = oauthRefusal(failure.code, text, occasion.accept)
  const problem = {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: text,
    instance: occasion.path,
    message: text,
    code: failure.code,
    requestId: occasion.requestId,
    ...(failure.fields.length > 0 && { errors: failure.fields }),
    ...(failure.executionId !== undefined && { executionId: failure.executionId }),
    ...(failure.error !== undefined && { error: failure.error }),
    ...(failure.requiredScope !== undefined && { requiredScope: failure.requiredScope }),
    ...failure.present,
    ...oauth?.members,
  }
  const all: AnswerHeaders = {
    'Content-Type': 'application/problem+json',
    'X-Request-Id': occasion.requestId,
    ...oauth?.headers,
    ...headers,
  }
  if (failure.executionId !== undefined) all[occasion.executionIdHeader] = failure.executionId
  if (failure.present !== undefined) all['ETag'] = failure.present.etag
  if (status === 401 || failure.requiredScope !== undefined) all['WWW-Authenticate'] = challengeOf(failure, occasion)
  if (failure.retryAfterS !== undefined) all['Retry-After'] = String(Math.max(1, Math.ceil(failure.retryAfterS)))
  else if (passing.has(status)) all['Retry-After'] = '1'
  return { status, headers: all, body: JSON.stringify(problem) }
}

/** By RFC 7617, RFC 6750 §3 and RFC 9728 §5.1. */
function challengeOf({ code, requiredScope }: Failure, { realm = 'service', metadataUrl }: Occasion): string {
  if (code === 'webhook_credentials' || code === 'sandbox_credentials') return basicChallenge(realm)
  if (code === 'invalid_client') return basicChallenge('token')
  if (code === 'session_ended' || code === 'invalid_credentials') return 'Cookie realm="console"'
  const parameters = {
    realm: 'rest',
    ...(code !== 'token_missing' && { error: requiredScope === undefined ? 'invalid_token' : 'insufficient_scope' }),
    ...(requiredScope !== undefined && { scope: requiredScope }),
    ...(metadataUrl !== undefined && { resource_metadata: metadataUrl }),
  }
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`)
  return `Bearer ${pairs.join(', ')}`
}

/** Asks a browser for a user name and a password; `realm` holds no quotes. */
export function basicChallenge(realm: string): string {
  return `Basic realm="${realm}", charset="UTF-8"`
}

/** What RFC 6749 §5.2 calls refusals of the token endpoint; failures have these words as their codes. */
export const OAUTH_ERRORS: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_client',
  'unsupported_grant_type',
  'invalid_scope',
])

/** Nothing of the token endpoint is kept by those between. */
export const NOT_STORED = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

/**
 * What such a refusal has beside a problem: members and headers. OAuth clients read nothing but `application/json`, and
 * ask for it. Undefined for any other code.
 */
function oauthRefusal(
  code: string,
  text: string,
  accept: string | undefined,
): { members: Record<string, string>; headers: AnswerHeaders } | undefined {
  if (!OAUTH_ERRORS.has(code)) return undefined
  const headers: AnswerHeaders = { ...NOT_STORED }
  if (/(?:^|[\s,])application\/json\b/i.test(accept ?? '')) headers['Content-Type'] = 'application/json'
  return { members: { error: code, error_description: text }, headers }
}
