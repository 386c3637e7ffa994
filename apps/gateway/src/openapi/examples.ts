import { STATUS_CODES } from 'node:http'
import { samples } from '../rest/samples.ts'
import type { DocumentJson, MediaTypeJson, SchemaJson } from './document-json.ts'

const PROBLEM = '#/components/schemas/Problem'

type Schemas = Record<string, SchemaJson>

/** Gives every body of the document an example: that of its schema, which moves there, else one that is made of the schema. */
export function addExamples({ paths, components: { schemas } }: DocumentJson): void {
  for (const methods of Object.values(paths))
    for (const operation of Object.values(methods)) {
      for (const media of Object.values(operation.requestBody?.content ?? {}))
        media.example ??= exampleOf(media, schemas)
      for (const [status, { content = {} }] of Object.entries(operation.responses))
        for (const media of Object.values(content))
          media.example ??= isRefusal(media) ? refusalExample(Number(status), media) : exampleOf(media, schemas)
    }
  for (const schema of Object.values(schemas)) delete schema.example
}

const isRefusal = ({ schema }: MediaTypeJson) => schema?.allOf?.[0]?.$ref === PROBLEM

function exampleOf({ schema }: MediaTypeJson, schemas: Schemas): unknown {
  return schema === undefined ? undefined : valueOf(schema, schemas)
}

function valueOf(schema: SchemaJson, schemas: Schemas): unknown {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? ''
    return valueOf(schemas[name] ?? {}, schemas)
  }
  const { example, const: only, default: usual, enum: words, properties, items, anyOf, oneOf, allOf } = schema
  const given = [example, only, usual, words?.[0]].find((value) => value !== undefined)
  if (given !== undefined) return given
  if (properties !== undefined)
    return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, valueOf(inner, schemas)]))
  if (items !== undefined) return [valueOf(items, schemas)]
  const [first] = [...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? [])]
  return first === undefined ? plainValue(schema) : valueOf(first, schemas)
}

const TEXTS: Record<string, string> = {
  uuid: samples.id,
  'date-time': samples.at,
  binary: 'any bytes',
}

function plainValue({ type, format, minimum = 0 }: SchemaJson): unknown {
  switch ([type].flat()[0]) {
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return minimum
    case 'null':
      return null
    case 'array':
      return []
    case 'object':
      return {}
    default:
      return TEXTS[format ?? ''] ?? 'text'
  }
}

/** What refusals say, by their codes. */
const REFUSAL_TEXTS: Record<string, string> = {
  alias_not_found: 'Alias not found',
  api_token_missing: 'The header x-api-token is missing',
  api_token_invalid: 'The API token is not valid',
  changed_meanwhile: 'It is not as If-Match has it: ann wrote it at 2026-01-31T12:00:00.000Z. Read it again',
  body_too_large: 'The request body is larger than 10485760 bytes',
  deadline_exceeded: 'The operation took too long',
  execution_not_found: 'Execution not found',
  execution_failed: 'Execution failed',
  execution_timeout: 'Execution still running',
  expectation_failed: 'Only Expect: 100-continue is understood',
  forbidden: 'The access token does not allow this',
  headers_too_large: 'The request headers are larger than 16 KiB',
  idempotency_key_reused: 'The idempotency key was used for another request',
  internal_error: 'Internal error',
  malformed_request: 'The address is malformed',
  module_not_found: 'Module not found',
  object_not_found: 'Object not found',
  precondition_failed: 'The object has changed',
  process_not_found: 'Process not found',
  range_not_satisfiable: 'The object has 12 bytes',
  request_timeout: 'The request did not arrive in time',
  sandbox_not_found: 'Sandbox not found',
  sandbox_unreachable: 'The sandbox does not answer',
  signed_url_expired: 'The link has expired',
  stopping: 'The service is stopping, try again',
  team_not_found: 'Team not found',
  token_expired: 'The access token has expired',
  too_many_streams: 'The team has 100 live streams open, which is the most',
  unsupported_media_type: 'The body must be application/json',
  variable_not_found: 'Variable not found',
  webhook_credentials: 'The credentials are missing or wrong',
  webhook_not_found: 'Webhook not found',
}

/** A refusal as callers see it, with one of the codes that it can have. */
function refusalExample(status: number, { schema }: MediaTypeJson): unknown {
  const codes = (schema?.allOf?.[1]?.properties?.['code']?.enum ?? []) as string[]
  const code = codes.find((one) => REFUSAL_TEXTS[one] !== undefined) ?? codes[0] ?? ''
  const text = REFUSAL_TEXTS[code] ?? 'The operation is refused'
  return {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail: text,
    instance: '/api/demo/rest/processes/greeting',
    message: text,
    code,
    requestId: '5f0c1d3e-8b7a-4c2d-9e6f-1a2b3c4d5e6f',
    ...(code === 'changed_meanwhile' && { etag: samples.etag, updatedBy: 'ann', updatedAt: samples.at }),
  }
}
