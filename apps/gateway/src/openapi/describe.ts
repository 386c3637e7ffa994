import type { Scope } from '@automation/contract/scopes'
import { z } from '@hono/zod-openapi'
import { CONDITIONAL } from '../rest/edits.ts'
import { addressOf, type Operation, type Success } from '../rest/operation.ts'
import { responseHeaders } from './document-parts.ts'
import { refusalsOf } from './refusals.ts'

const teamSlug = z.string().openapi({ description: 'Team slug', example: 'demo' })

/** An operation as the OpenAPI document has it. `idHeader` is such as `Svc-Execution-ID`. */
export function describeOperation(operation: Operation, idHeader: string): Record<string, unknown> {
  const { content, open = false, atRoot = false, method, scope, alsoScope, conditional = false } = operation
  const params: Record<string, z.ZodType> = atRoot ? {} : { team: teamSlug }
  for (const [name, { schema }] of Object.entries(operation.parameters ?? {})) params[name] = schema
  const headers = operation.headers ?? (conditional ? CONDITIONAL.headers : undefined)
  const parameters = Object.values(operation.parameters ?? {})
  const call = {
    open: open || atRoot,
    hasBody: operation.body !== undefined || content !== undefined,
    own: [
      operation.refusals ?? {},
      ...parameters.map(({ refusals }) => refusals),
      operation.query === undefined ? {} : { 400: ['invalid_input'] },
      conditional ? CONDITIONAL.refusals : {},
    ],
  }
  return {
    method,
    path: addressOf(operation),
    tags: [operation.tag],
    summary: operation.summary,
    operationId: operationId(operation),
    ...(scope !== undefined && {
      ...(!atRoot && { security: [...securityOf(scope), ...(operation.alsoByLink === true ? [{ link: [] }] : [])] }),
      'x-required-scope': scope,
      ...(alsoScope !== undefined && { 'x-also-required-scope': alsoScope }),
    }),
    request: {
      params: z.object(params),
      ...(operation.query !== undefined && { query: operation.query }),
      ...(headers !== undefined && { headers }),
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

/** Either of the scopes will do; a token of another issuer has none that the document could name. */
function securityOf(scope: Scope): Record<string, string[]>[] {
  const words = scope === 'admin' ? [scope] : ['executor' as const, scope]
  return [...words.map((word) => ({ oauth2: [word] })), { bearer: [] }]
}

function successes(success: Success, idHeader: string): Record<string, object> {
  const {
    status,
    description,
    schema,
    mediaType = 'application/json',
    headers = {},
    others = {},
    alsoAs = {},
  } = success
  const content = schema === undefined ? {} : { content: { [mediaType]: { schema }, ...contentOf(alsoAs) } }
  const more = Object.entries(others).map(
    ([other, { text, isEmpty, headers: own, schema: ofOwn, mediaType: type }]) => [
      other,
      {
        description: text,
        headers: responseHeaders(type === undefined ? { ...headers, ...own } : (own ?? {}), idHeader),
        ...(isEmpty !== true &&
          (ofOwn === undefined ? content : { content: { [type ?? mediaType]: { schema: ofOwn } } })),
      },
    ],
  )
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
