import { STATUS_CODES } from 'node:http'
import type { Failure, FailureKind } from '@automation/errors'
import type { Answer, AnswerHeaders } from './answer.ts'

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

/** Codes that HTTP has a status of its own for. */
const STATUS_BY_CODE: Record<string, number> = {
  method_not_allowed: 405,
  request_timeout: 408,
  precondition_failed: 412,
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
export interface Occasion {
  requestId: string
  /** Path of the request, without its query. */
  path: string
  /** Such as `Svc-Execution-ID`. */
  executionIdHeader: string
}

/** The problem (RFC 9457) that a caller sees for a failure. Shows the public text only, never the cause. */
export function problemAnswer(failure: Failure, occasion: Occasion, headers: AnswerHeaders = {}): Answer {
  const status = statusOf(failure)
  const text = textOf(failure)
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
  }
  const all: AnswerHeaders = {
    'Content-Type': 'application/problem+json',
    'X-Request-Id': occasion.requestId,
    ...headers,
  }
  if (failure.executionId !== undefined) all[occasion.executionIdHeader] = failure.executionId
  if (status === 401) all['WWW-Authenticate'] = challengeOf(failure)
  if (failure.retryAfterS !== undefined) all['Retry-After'] = String(Math.max(1, Math.ceil(failure.retryAfterS)))
  else if (status === 503 || status === 429) all['Retry-After'] = '1'
  return { status, headers: all, body: JSON.stringify(problem) }
}

/** The text of a failure, which names the field where there is one: many clients show nothing else. */
function textOf({ message, fields }: Failure): string {
  const [fault] = fields
  if (fields.length !== 1 || fault === undefined || fault.path === '') return message
  const names = fault.path.slice(1).split('/').map(unescaped)
  if (message.includes(fault.path) || isNamed(names.at(-1) ?? '', message)) return message
  const field = names.join('.')
  // "is required" goes on from the name; a sentence of its own stands behind it.
  return /^(?:is|are|must|can|has|have|may|does|names|holds)\b/.test(message)
    ? `${field} ${message}`
    : `${field}: ${message}`
}

/** Whether a text has the name as a word of its own; the number of an item is no name. */
function isNamed(name: string, text: string): boolean {
  return /^\d*$/.test(name) ? false : text.split(/[^\w$-]+/).includes(name)
}

function unescaped(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}

function challengeOf(failure: Failure): string {
  if (failure.code === 'webhook_credentials') return 'Basic realm="webhook", charset="UTF-8"'
  if (failure.code === 'sandbox_credentials') return 'Basic realm="sandbox", charset="UTF-8"'
  return failure.code === 'token_missing' ? 'Bearer realm="rest"' : 'Bearer realm="rest", error="invalid_token"'
}
