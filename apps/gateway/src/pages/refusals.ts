import { z } from '@hono/zod-openapi'
import { codesOf } from './refusal-codes.ts'

/** The body of every refusal; for the document only, http/problem.ts makes it. */
export const problemRecord = z
  .object({
    type: z.literal('about:blank'),
    title: z.string().openapi({ description: 'The name of the status' }),
    status: z.int().openapi({ minimum: 400, maximum: 599 }),
    detail: z.string().openapi({ description: 'What is wrong, in words that may be shown' }),
    instance: z.string().openapi({ description: 'Path of the request' }),
    message: z.string().openapi({ description: 'The same text as detail' }),
    code: z.string().openapi({
      pattern: '^[a-z]+(_[a-z]+)*$',
      description: 'A stable word. Each answer lists those that it can have; a later release may add some',
    }),
    requestId: z.string().openapi({ description: 'As in the header X-Request-Id' }),
    errors: z
      .array(z.object({ path: z.string().openapi({ description: 'JSON pointer' }), message: z.string() }))
      .optional()
      .openapi({ description: 'The faults of the input, one by one' }),
    executionId: z.string().optional().openapi({ format: 'uuid', description: 'Where it is about one execution' }),
  })
  .openapi('Problem', { description: 'RFC 9457 problem details' })

/** What decides how a call may be refused. */
export interface RefusedCall {
  /** `METHOD path`, the path below /api/{team}. */
  name: string
  /** Needs no access token. */
  open: boolean
  /** Reads a body. */
  hasBody: boolean
  /** Statuses of its own beside those that every call has. */
  statuses: readonly number[]
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
  412: 'The object is not the one that the condition names',
  413: 'The body, or what it brings, is too large',
  415: 'The body is of a media type or an encoding that is not read',
  416: 'The object has no such range',
  417: 'Only Expect: 100-continue is understood',
  429: 'Too much at the same time; Retry-After says when to try again',
  431: 'The headers are larger than 16 KiB',
  500: 'The run failed or was killed, or the service has an error of its own',
  503: 'Away for the moment; Retry-After says when to try again',
  504: 'A part of the service did not answer in time',
}

/** Of every call, whatever it asks for. */
const ALWAYS = [400, 417, 431, 500, 503, 504]
const OF_BODIES = [408, 413, 415]
/** Refusals that may be repeated with an idempotency key. */
const REPEATED = new Set([
  'execution_failed',
  'execution_killed',
  'execution_timeout',
  'execution_rejected',
  'result_not_kept',
])
/** Refusals that may name an execution. */
const OF_A_RUN = new Set([...REPEATED, 'execution_ended'])

/** The refusals of a call as the document has them, by status. `idHeader` is such as `Svc-Execution-ID`. */
export function refusalsOf(call: RefusedCall, idHeader: string): Record<string, Refusal> {
  const statuses = new Set([
    ...ALWAYS,
    ...(call.open ? [] : [401, 403, 404]),
    ...(call.hasBody ? OF_BODIES : []),
    ...call.statuses,
  ])
  return Object.fromEntries(
    [...statuses].toSorted((a, b) => a - b).map((status) => [status, refusal(status, codesOf(call, status), idHeader)]),
  )
}

function refusal(status: number, codes: readonly string[], idHeader: string): Refusal {
  const own = { properties: { status: { const: status }, code: { enum: codes } } }
  return {
    description: `${REASONS[status] ?? 'Refused'}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...(status === 401 && { 'WWW-Authenticate': { $ref: '#/components/headers/Challenge' } }),
      ...((status === 429 || status === 503) && { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }),
      ...(status === 416 && { 'Content-Range': { $ref: '#/components/headers/ContentRange' } }),
      ...(codes.some((code) => OF_A_RUN.has(code)) && { [idHeader]: { $ref: '#/components/headers/ExecutionId' } }),
      ...(codes.some((code) => REPEATED.has(code)) && {
        'Idempotency-Replayed': { $ref: '#/components/headers/Replayed' },
      }),
    },
    content: {
      'application/problem+json': { schema: { allOf: [{ $ref: '#/components/schemas/Problem' }, own] } },
    },
  }
}
