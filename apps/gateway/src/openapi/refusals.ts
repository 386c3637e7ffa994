import { NOT_STORED, OAUTH_ERRORS } from '../http/problem.ts'
import type { RefusalCodes } from '../rest/operation.ts'
import type { DocumentJson } from './document-json.ts'
import { EVERY_ANSWER } from './document-parts.ts'

/** What decides how a call may be refused. */
export interface RefusedCall {
  /** Needs no access token. */
  open: boolean
  /** Reads a body. */
  hasBody: boolean
  /** Beside those that such calls have. */
  own: readonly RefusalCodes[]
}

/** A refusal as the document has it. */
export interface Refusal {
  description: string
  headers: Record<string, object>
  content: Record<string, object>
}

const REASONS: Record<number, string> = {
  400: 'Invalid input, or no valid HTTP',
  401: 'Credentials missing, malformed, expired or wrong',
  403: 'The credentials do not allow this: the access token is for another team or lacks the scope, or the link is not valid',
  404: 'Not found',
  408: 'The request, or the run that it waits for, takes too long; a run goes on',
  409: 'It does not go together with what is there',
  412: 'It is not, or no longer, in the state that the condition names',
  413: 'The body, or what it brings, is too large',
  415: 'The body is of a media type or an encoding that is not read',
  416: 'The object has no such range',
  417: 'Only Expect: 100-continue is understood',
  429: 'Too much at the same time; Retry-After says when to try again',
  431: 'The headers are larger than 16 KiB',
  500: 'The run failed or was killed, or the service has an error of its own',
  502: 'The sandbox does not answer',
  503: 'Away for the moment; Retry-After says when to try again',
  504: 'A part of the service did not answer in time',
}

/** Of every call, whatever it asks for. */
const ALWAYS: RefusalCodes = {
  400: ['malformed_request'],
  417: ['expectation_failed'],
  431: ['headers_too_large'],
  500: ['internal_error'],
  503: ['unavailable', 'stopping', 'too_many_connections'],
  504: ['deadline_exceeded'],
}

const OF_TOKENS: RefusalCodes = {
  401: ['token_missing', 'token_invalid', 'token_expired'],
  403: ['forbidden', 'scope_missing', 'team_suspended'],
  404: ['team_not_found'],
  429: ['too_many_calls'],
}

const OF_BODIES: RefusalCodes = {
  400: ['invalid_input', 'invalid_json'],
  408: ['request_timeout'],
  413: ['body_too_large'],
  415: ['unsupported_media_type'],
  503: ['too_many_bodies'],
}

/** Refusals that may be repeated with an idempotency key. */
const REPEATED = new Set([
  'execution_failed',
  'execution_killed',
  'execution_timeout',
  'execution_rejected',
  'result_not_kept',
])
const EXECUTION_ID = '#/components/headers/ExecutionId'

/** Whether this may be the answer where a wait for a run is broken off. */
const isOfWait = (status: number) => [503, 504].includes(status)

/** Refusals that may name an execution. */
const OF_A_RUN = new Set([...REPEATED, 'execution_ended'])

/** The refusals of a call as the document has them, by status. `idHeader` is such as `Svc-Execution-ID`. */
export function refusalsOf(call: RefusedCall, idHeader: string): Record<string, Refusal> {
  const all = [ALWAYS, ...(call.open ? [] : [OF_TOKENS]), ...(call.hasBody ? [OF_BODIES] : []), ...call.own]
  const statuses = new Set(all.flatMap((codes) => Object.keys(codes).map(Number)))
  const codesOf = (status: number) => [...new Set(all.flatMap((codes) => codes[status] ?? []))].toSorted()
  // The run of a call that waits for its end has an id, too, where the wait is broken off.
  const waits = codesOf(500).includes('execution_failed')
  const namesRun = (status: number) => (waits && isOfWait(status)) || codesOf(status).some((code) => OF_A_RUN.has(code))
  return Object.fromEntries(
    [...statuses]
      .toSorted((a, b) => a - b)
      .map((status) => [status, refusal(status, codesOf(status), namesRun(status) ? idHeader : undefined)]),
  )
}

/** With the header `idHeader` where it may name an execution. */
function refusal(status: number, codes: readonly string[], idHeader: string | undefined): Refusal {
  const oauth = codes.filter((code) => OAUTH_ERRORS.has(code))
  const isOauth = oauth.length > 0
  const isMeanwhile = codes.includes('changed_meanwhile')
  // With their types, as generators of clients merge this with the problem.
  const own = {
    type: 'object',
    properties: {
      status: { type: 'integer', format: 'int32', enum: [status] },
      code: wordOf(codes),
      ...(isOauth && oauthMembers(oauth)),
      ...(codes.includes('execution_failed') && { error: { $ref: '#/components/schemas/CodeError' } }),
      ...(isMeanwhile && PRESENT_STATE),
    },
    ...(isMeanwhile && { required: Object.keys(PRESENT_STATE) }),
  }
  const media = { schema: { allOf: [{ $ref: '#/components/schemas/Problem' }, own] } }
  return {
    description: `${REASONS[status] ?? 'Refused'}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
    headers: {
      ...EVERY_ANSWER,
      ...(status === 401 && { 'WWW-Authenticate': { $ref: '#/components/headers/Challenge' } }),
      ...(codes.includes('scope_missing') && { 'WWW-Authenticate': SCOPE_CHALLENGE }),
      ...([429, 503, 504].includes(status) && { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }),
      ...(isOauth && OAUTH_HEADERS),
      ...(isMeanwhile && { ETag: { description: 'Of the present state', required: true, schema: { type: 'string' } } }),
      ...(status === 416 && { 'Content-Range': { $ref: '#/components/headers/ContentRange' } }),
      ...(idHeader !== undefined && { [idHeader]: { $ref: EXECUTION_ID } }),
      ...(codes.some((code) => REPEATED.has(code)) && {
        'Idempotency-Replayed': { $ref: '#/components/headers/Replayed' },
      }),
    },
    content: {
      'application/problem+json': media,
      // A copy, as examples are added to each.
      ...(isOauth && { 'application/json': { ...media } }),
    },
  }
}

/** Members that tell whoever has come too late who has come before. */
const PRESENT_STATE = {
  etag: { type: 'string', description: 'Of the present state, as in the header ETag' },
  updatedBy: { type: 'string', description: 'Who has written it' },
  updatedAt: { type: 'string', format: 'date-time' },
}

/** Members that OAuth clients look for, on refusals of the form that they send. */
function oauthMembers(words: readonly string[]): Record<string, object> {
  return {
    error: { ...wordOf(words), description: 'The code, for OAuth clients' },
    error_description: { type: 'string', description: 'The same text as detail' },
  }
}

/** Of 403 it is told only where a scope is missing. */
const SCOPE_CHALLENGE = { description: 'Names the scope that is missing', schema: { type: 'string' } }

const OAUTH_HEADERS = Object.fromEntries(
  Object.entries(NOT_STORED).map(([name, value]) => [name, { description: value, schema: { type: 'string' } }]),
)

function wordOf(words: readonly string[]): object {
  return { type: 'string', enum: words }
}

const PROBLEM = 'application/problem+json'

/**
 * Moves refusals to the components, where most operations share them; a name is the status and the codes. Those that may
 * also be the answer of a process, or of a wait for a run, stay where they are.
 */
export function shareRefusals({ paths, components }: DocumentJson): void {
  const shared = (components.responses ??= {})
  for (const { responses } of Object.values(paths).flatMap((methods) => Object.values(methods)))
    for (const [status, response] of Object.entries(responses)) {
      const codes = response.content?.[PROBLEM]?.schema?.allOf?.[1]?.properties?.['code']?.enum
      if (codes === undefined || Object.keys(response.content ?? {}).length > 1) continue
      if (isOfWait(Number(status)) && Object.values(response.headers ?? {}).some(({ $ref }) => $ref === EXECUTION_ID))
        continue
      const name = [status, ...codes].join('.')
      shared[name] ??= response
      responses[status] = { $ref: `#/components/responses/${name}` }
    }
}
