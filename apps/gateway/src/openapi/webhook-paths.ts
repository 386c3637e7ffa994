import type { RefusalCodes } from '../rest/operation.ts'
import type { OperationJson } from './document-json.ts'
import { responseHeaders } from './document-parts.ts'
import { refusalsOf, type RefusedCall } from './refusals.ts'

/** The webhook entry as the OpenAPI document has it; its handler stands outside of the router. */
export function webhookPaths(prefix: string): Record<string, Record<'get' | 'post', OperationJson>> {
  const idHeader = `${prefix}Execution-ID`
  return {
    '/api/{team}/webhooks/{slug}': {
      get: operation(
        'get',
        'Run a process with the query as its parameters, with the types that its schema names',
        prefix,
      ),
      post: {
        ...operation('post', 'Run a process with the body as its parameters', prefix),
        requestBody: {
          required: false,
          description:
            'JSON and forms become the parameters (fields of forms with the types that the schema of the process names); of other types the process gets the raw body',
          content: {
            'application/json': { schema: ANY_JSON },
            'application/x-www-form-urlencoded': { schema: { type: 'object', additionalProperties: true } },
            'multipart/form-data': { schema: { type: 'object', additionalProperties: true } },
            '*/*': { schema: { type: 'string', format: 'binary' } },
          },
        },
      },
    },
  }

  function operation(method: 'get' | 'post', summary: string, headers: string) {
    const hasBody = method === 'post'
    return {
      tags: ['Webhooks'],
      summary,
      operationId: `${method}Webhook`,
      security: [{}, { webhook: [] }],
      parameters: parametersOf(headers),
      responses: {
        ...successes(idHeader),
        ...refusals({ open: true, hasBody, own: hasBody ? [OWN, OF_FORMS] : [OWN] }, idHeader),
        default: {
          description: 'The status, headers and body that the process set',
          headers: commonHeaders(idHeader),
          content: { '*/*': { schema: ANY } },
        },
      },
    }
  }
}

const ANY_JSON = {
  type: ['object', 'array', 'string', 'number', 'boolean', 'null'],
  additionalProperties: true,
  description: 'Any JSON',
}
const ANY = { ...ANY_JSON, description: 'JSON, text or bytes, as the process returned it' }

/** Refusals of its own beside those of every call. */
const OWN: RefusalCodes = {
  400: ['invalid_input', 'invalid_parameters', 'limit_reached'],
  401: ['webhook_credentials'],
  404: ['version_not_found', 'webhook_not_found'],
  408: ['execution_timeout'],
  409: ['idempotency_key_reused', 'result_not_kept'],
  413: ['parameters_too_large', 'run_too_large'],
  429: ['execution_rejected', 'too_many_attempts', 'too_many_calls'],
  500: ['execution_failed', 'execution_killed', 'webhook_answer_invalid'],
  503: ['team_suspended'],
}

/** Of bodies that are forms. */
const OF_FORMS: RefusalCodes = {
  400: ['too_many_fields', 'too_many_files', 'too_many_parts'],
  413: ['object_too_large', 'storage_full'],
}

/** Any status may also be one that the process has set. */
function refusals(call: RefusedCall, idHeader: string): Record<string, object> {
  return Object.fromEntries(
    Object.entries(refusalsOf(call, idHeader)).map(([status, { description, headers, content }]) => [
      status,
      {
        description,
        headers: { ...headers, ...unsure(headers), ...responseHeaders(GUARDS, idHeader) },
        content: { ...content, '*/*': { schema: ANY } },
      },
    ]),
  )
}

/** Headers that an answer of the process may lack. */
function unsure(headers: Record<string, object>): Record<string, object> {
  const names = ['WWW-Authenticate', 'Retry-After'].filter((name) => name in headers)
  const header = { description: 'On refusals of the service', schema: { type: 'string' } }
  return Object.fromEntries(names.map((name) => [name, header]))
}

const OF_ASYNC = { description: 'Address of the execution, where the run is asynchronous', schema: { type: 'string' } }

function parametersOf(prefix: string): object[] {
  const header = (name: string, description: string, schema: object = TEXT) =>
    parameter('header', `${prefix}${name}`, description, schema)
  return [
    { name: 'team', in: 'path', required: true, description: 'Team slug', schema: { type: 'string' } },
    { name: 'slug', in: 'path', required: true, description: 'Process slug or id', schema: { type: 'string' } },
    parameter('query', 'async', 'true: answer at once; wins over the header', FLAG),
    parameter('query', 'async_response', 'Body of the answer to an asynchronous call; false: an empty body'),
    header('Version-Tag', 'Version tag, alias or version id to run'),
    header('Async', 'true: answer at once', FLAG),
    header('Initiated-By', 'Recorded for audit'),
    header('Agent-Pool', 'Agent pool to run in'),
    header('Comment', 'Comment of the execution'),
    parameter('header', 'Idempotency-Key', 'The same key gives the same execution for 24 h'),
  ]
}

const TEXT = { type: 'string' }
const FLAG = { type: 'boolean', default: false }

function parameter(where: 'query' | 'header', name: string, description: string, schema: object = TEXT): object {
  return { name, in: where, required: false, description, schema }
}

function successes(idHeader: string): Record<number, object> {
  const headers = commonHeaders(idHeader)
  return {
    200: {
      description: 'What the process returned; it may set status, headers and body',
      headers,
      content: { '*/*': { schema: ANY } },
    },
    201: {
      description: 'Asynchronous run',
      headers: { ...headers, Location: OF_ASYNC },
      content: { 'application/json': { schema: ASYNC_BODY }, '*/*': { schema: ANY } },
    },
    204: { description: 'The process returned null', headers },
  }
}

/** What keeps an answer from being a page of this origin. */
const GUARDS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': 'Always with the directive sandbox on a host that webhooks share',
}

function commonHeaders(idHeader: string): Record<string, object> {
  return responseHeaders({ [idHeader]: 'Execution id', 'Idempotency-Replayed': '', ...GUARDS }, idHeader)
}

const ASYNC_BODY = {
  title: 'WebhookExecution',
  type: 'object',
  required: ['id', 'status', 'data'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    status: { type: 'string', const: 'CREATED' },
    data: { type: 'null' },
  },
}
