import { z } from '@hono/zod-openapi'
import type { Operation } from '../routes/operation.ts'

const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    message: z.string().openapi({ description: 'The same text as detail' }),
    code: z.string().openapi({ description: 'A stable word such as process_not_found' }),
    requestId: z.string(),
    errors: z
      .array(z.object({ path: z.string().openapi({ description: 'JSON pointer' }), message: z.string() }))
      .optional(),
    executionId: z.string().optional(),
  })
  .openapi('Problem', { description: 'RFC 9457 problem details' })

const REASONS: Record<number, string> = {
  400: 'Invalid input',
  401: 'Access token missing, malformed, expired or wrongly signed',
  403: 'The access token is for another team or lacks the scope',
  404: 'Not found',
  408: 'The run takes longer than a caller may wait; it goes on',
  409: 'The idempotency key was used for another request, or the result was not kept',
  412: 'The object is not the one that the condition names',
  413: 'The body or the parameters are too large',
  415: 'The body is not JSON, or it is encoded',
  416: 'The object has no such range',
  429: 'Too many attempts, live streams or sandboxes, or the queue of the team is full',
  500: 'The run failed or was killed',
  503: 'Away for the moment; Retry-After says when to try again',
}

/** An operation as the OpenAPI document has it. `path` is absolute, with parameters in braces. */
export function describeOperation(path: string, operation: Operation): Record<string, unknown> {
  const params: Record<string, z.ZodType> = { team: z.string().openapi({ description: 'Team slug' }) }
  for (const [name, { schema }] of Object.entries(operation.parameters ?? {})) params[name] = schema
  const { success, content } = operation
  const refusals = [...(operation.open ? [401] : [401, 403]), ...(operation.refusals ?? []), 503].toSorted(
    (a, b) => a - b,
  )
  return {
    method: operation.method,
    path,
    tags: [operation.tag],
    summary: operation.summary,
    operationId: operationId(operation),
    ...(!operation.open && { security: [{ oauth2: ['executor'] }, { bearer: [] }] }),
    request: {
      params: z.object(params),
      ...(operation.query !== undefined && { query: operation.query }),
      ...(operation.headers !== undefined && { headers: operation.headers }),
      ...(content !== undefined && { body: { required: true, content: contentOf(content) } }),
      ...(operation.body !== undefined && {
        body: {
          required: operation.bodyOptional !== true,
          content: { 'application/json': { schema: operation.body } },
        },
      }),
    },
    responses: {
      ...Object.fromEntries(
        Object.entries(success.others ?? {}).map(([status, text]) => [status, { description: text }]),
      ),
      [success.status]: {
        description: success.description,
        ...(success.schema !== undefined && {
          content: { [success.mediaType ?? 'application/json']: { schema: success.schema } },
        }),
        ...(success.headers !== undefined && { headers: describeHeaders(success.headers) }),
      },
      ...Object.fromEntries(refusals.map((status) => [status, describeRefusal(status)])),
    },
  }
}

function contentOf(content: Record<string, z.ZodType>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]))
}

function describeRefusal(status: number): Record<string, unknown> {
  return { description: REASONS[status] ?? 'Refused', content: { 'application/problem+json': { schema: problem } } }
}

function describeHeaders(headers: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  )
}

/** `GET /processes/{identifier}/aliases` → `getProcessesByIdentifierAliases`. */
function operationId(operation: Operation): string {
  const words = operation.path.split('/').filter(Boolean)
  const named = words.map((word) => {
    const parameter = /^\{(\w+)\}$/.exec(word)?.[1]
    return parameter === undefined ? pascalCase(word) : `By${pascalCase(parameter)}`
  })
  return `${operation.method}${named.join('')}`
}

function pascalCase(word: string): string {
  return word
    .split('-')
    .map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}`)
    .join('')
}
