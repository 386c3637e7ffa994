import { z } from '@hono/zod-openapi'
import type { Operation, Success } from '../rest/operation.ts'
import { responseHeaders } from './document-parts.ts'
import { refusalsOf } from './refusals.ts'

/** An operation as the OpenAPI document has it. `idHeader` is such as `Svc-Execution-ID`. */
export function describeOperation(operation: Operation, idHeader: string): Record<string, unknown> {
  const params: Record<string, z.ZodType> = { team: z.string().openapi({ description: 'Team slug', example: 'demo' }) }
  for (const [name, { schema }] of Object.entries(operation.parameters ?? {})) params[name] = schema
  const { content, open = false, method } = operation
  const parameters = Object.values(operation.parameters ?? {})
  const call = {
    open,
    hasBody: operation.body !== undefined || content !== undefined,
    own: [
      operation.refusals ?? {},
      ...parameters.map(({ refusals }) => refusals),
      operation.query === undefined ? {} : { 400: ['invalid_input'] },
    ],
  }
  return {
    method,
    path: `/api/{team}/rest${operation.path}`,
    tags: [operation.tag],
    summary: operation.summary,
    operationId: operationId(operation),
    ...(!open && { security: [{ oauth2: ['executor'] }, { bearer: [] }] }),
    request: {
      params: z.object(params),
      ...(operation.query !== undefined && { query: operation.query }),
      ...(operation.headers !== undefined && { headers: operation.headers }),
      ...(content !== undefined && {
        body: { required: operation.bodyOptional !== true, content: contentOf(content) },
      }),
      ...(operation.body !== undefined && {
        body: {
          required: operation.bodyOptional !== true,
          content: { 'application/json': { schema: operation.body } },
        },
      }),
    },
    responses: { ...successes(operation.success, idHeader), ...refusalsOf(call, idHeader) },
  }
}

function successes(success: Success, idHeader: string): Record<string, object> {
  const { status, description, schema, mediaType = 'application/json', headers = {}, others = {} } = success
  const content = schema === undefined ? {} : { content: { [mediaType]: { schema } } }
  const more = Object.entries(others).map(([other, { text, isEmpty, headers: own }]) => [
    other,
    {
      description: text,
      headers: responseHeaders({ ...headers, ...own }, idHeader),
      ...(isEmpty !== true && content),
    },
  ])
  return {
    [status]: { description, headers: responseHeaders(headers, idHeader), ...content },
    ...Object.fromEntries(more),
  }
}

function contentOf(content: Record<string, z.ZodType>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]))
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
