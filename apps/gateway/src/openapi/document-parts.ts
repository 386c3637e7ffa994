import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { scopes } from '@automation/contract/scopes'
import type { GatewayConfig } from '../config.ts'
import { int32 } from '../rest/fields.ts'

/** What the operations of the document refer to: security schemes, headers, the form of refusals. */
export function registerParts(registry: OpenAPIHono['openAPIRegistry'], { publicUrl }: GatewayConfig): void {
  registry.register('Problem', problemRecord)
  registry.register('CodeError', codeErrorRecord)
  registry.registerComponent('securitySchemes', 'oauth2', {
    type: 'oauth2',
    description:
      'An API token is sk- and the base64 of client id, colon, client secret. The token address takes those two, by ' +
      'HTTP Basic or in the form, with the slug of the team in place of {team}; or the API token in x-api-token',
    flows: {
      clientCredentials: {
        tokenUrl: `${publicUrl}/api/%7Bteam%7D/rest/auth/token`,
        scopes,
      },
    },
  })
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'An access token: what POST /auth/token gives for an API token, or one of the issuer that is configured',
  })
  registry.registerComponent('securitySchemes', 'webhook', {
    type: 'http',
    scheme: 'basic',
    description: 'The credentials of the process, where its webhook has some',
  })
  registry.registerComponent('securitySchemes', 'link', {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description:
      'The token of `publicConfig` of a process, where that is enabled: it opens the form of this process alone',
  })
  for (const [name, { text, ...header }] of Object.entries(HEADERS))
    registry.registerComponent('headers', name, { description: text, schema: { type: 'string' }, ...header })
  for (const [name, { text, key, ...schema }] of Object.entries(PARAMETERS))
    registry.registerComponent('parameters', key, {
      name,
      in: 'header',
      description: text,
      schema: { type: 'string', ...schema },
    })
}

interface Header {
  text: string
  required?: boolean
  schema?: { type: 'string' | 'integer' | 'boolean'; format?: string; minimum?: number; enum?: string[] }
}

/** Response headers that more than one answer has. */
const HEADERS: Record<string, Header> = {
  RequestId: { text: 'Of the request where it is sane, else a new one', required: true },
  Challenge: { text: 'What credentials are needed', required: true },
  RetryAfter: { text: 'Seconds', required: true, schema: { type: 'integer', format: 'int32', minimum: 1 } },
  ContentRange: { text: 'The range that is sent, or the size where it can not be', required: true },
  ExecutionId: { text: 'Where the answer belongs to an execution', schema: { type: 'string', format: 'uuid' } },
  NoSniff: { text: 'nosniff' },
  Caching: { text: 'no-store, but where an answer may be kept and asked for by its ETag' },
  Replayed: {
    text: 'true where the idempotency key was known and nothing was started',
    schema: { type: 'boolean' },
  },
}

/** Request headers that every call may have. */
const PARAMETERS = {
  'X-Request-Id': {
    key: 'RequestId',
    text: 'Comes back in the answer, where it is at most 128 letters, digits and . _ : -',
    maxLength: 128,
  },
  traceparent: { key: 'TraceParent', text: 'W3C trace context', maxLength: 55 },
}

/** The references of an operation to them. */
export const EVERY_CALL = Object.values(PARAMETERS).map(({ key }) => ({ $ref: `#/components/parameters/${key}` }))

/** Response headers that every answer of REST may have. */
export const EVERY_ANSWER = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
  'X-Content-Type-Options': { $ref: '#/components/headers/NoSniff' },
  'Cache-Control': { $ref: '#/components/headers/Caching' },
}

/** Response headers by name: what they say. Those that HEADERS has are referred to. `idHeader` is such as `Svc-Execution-ID`. */
export function responseHeaders(headers: Record<string, string>, idHeader: string): Record<string, object> {
  const known: Record<string, string> = { 'Idempotency-Replayed': 'Replayed', 'Content-Range': 'ContentRange' }
  const described = Object.entries(headers).map(([name, description]) => [
    name,
    known[name] === undefined
      ? { description, required: true, schema: { type: 'string', ...formatOf(name, idHeader) } }
      : { $ref: `#/components/headers/${known[name]}` },
  ])
  return { ...EVERY_ANSWER, ...Object.fromEntries(described) }
}

function formatOf(name: string, idHeader: string): { format?: string } {
  if (name === idHeader) return { format: 'uuid' }
  return name === 'Location' ? { format: 'uri' } : {}
}

/** The body of every refusal; for the document only, http/problem.ts makes it. */
const problemRecord = z
  .object({
    type: z.literal('about:blank'),
    title: z.string().openapi({ description: 'The name of the status' }),
    status: int32().openapi({ minimum: 400, maximum: 599 }),
    detail: z.string().openapi({ description: 'What is wrong, in words that may be shown' }),
    instance: z.string().openapi({ description: 'Path of the request' }),
    message: z.string().openapi({ description: 'The same text as detail' }),
    code: z.string().openapi({
      pattern: '^[a-z]+(_[a-z]+)*$',
      description: 'A stable word. Each answer lists those that it can have; a later release may add some',
    }),
    requestId: z.string().openapi({ description: 'As in the header X-Request-Id' }),
    errors: z
      .array(
        z
          .object({ path: z.string().openapi({ description: 'JSON pointer' }), message: z.string() })
          .openapi({ title: 'FieldFault' }),
      )
      .optional()
      .openapi({ description: 'The faults of the input, one by one' }),
    executionId: z.string().optional().openapi({ format: 'uuid', description: 'Where it is about one execution' }),
    requiredScope: z
      .string()
      .optional()
      .openapi({ description: 'With the code scope_missing: the scope that the access token would need' }),
  })
  .openapi('Problem', { description: 'RFC 9457 problem details' })

/** A member of refusals of runs that failed, for who may read the execution. */
const codeErrorRecord = z
  .object({
    name: z.string(),
    message: z.string(),
    line: int32().optional().openapi({ minimum: 0, description: 'Of the source of the process' }),
  })
  .openapi('CodeError', { description: 'What the code of the run has failed with' })
