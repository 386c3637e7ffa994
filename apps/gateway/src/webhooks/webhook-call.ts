import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { invalid } from '@automation/errors'
import { type BodyRules, mediaTypeOf, readBody } from '../http/body.ts'
import { basicCredentials, headerText } from '../http/caller.ts'
import { boundedParameters, requireModestGrowth } from '../http/json-growth.ts'
import { type Exchange, queryRecord, type QueryRecord } from '../http/exchange.ts'
import { idempotencyKey, type StartRequest } from '../resources/executions/input.ts'
import { readMultipart } from './multipart.ts'
import { type FormFile, LONG_WORK_BYTES, type Payload, readPayload, unreadPayload } from './payload.ts'

/** What a webhook address names. */
export interface WebhookTarget {
  team: string
  /** Process slug or id. */
  identifier: string
}

/** A webhook request, read: how to answer it, and what it starts. */
export interface WebhookCall {
  options: WebhookOptions
  start: StartRequest
  files: FormFile[]
}

/**
 * Awaits `permitted` before it reads a large body or reports a fault. `permitted` fails where the caller may not start the
 * process that `start` names; `start` has no body yet.
 */
export type ReadWebhookCall = (
  exchange: Exchange,
  identifier: string,
  permitted: (start: StartRequest) => Promise<void>,
) => Promise<WebhookCall>

/** Makes the reader of webhook requests. Failures: invalid_input, invalid_json, and those of the body. */
export function webhookCallReader(body: Omit<BodyRules, 'beforeLarge'>, names: WebhookHeaders): ReadWebhookCall {
  const hidden = new Set([names.versionTag, names.async, names.initiatedBy, names.agentPool, names.comment])

  return async (exchange, identifier, permitted) => {
    const { headers, method } = exchange.incoming
    const credentials = basicCredentials(headers.authorization)
    const named = { identifier, tag: headerText(exchange, names.versionTag) ?? '' }
    const caller = {
      username: credentials?.username,
      password: credentials?.password,
      authorization: headers.authorization,
      method: method ?? '',
    }
    let wasAsked = false
    const ask = () => {
      wasAsked = true
      return permitted({ ...named, webhook: { ...caller, bodyBytes: knownBytes(exchange) } })
    }
    try {
      return await read(exchange, named, caller, ask)
    } catch (fault) {
      // What is wrong with a call is told to who may make it.
      if (!wasAsked) await ask()
      throw fault
    }
  }

  async function read(
    exchange: Exchange,
    named: { identifier: string; tag: string },
    caller: StartRequest['webhook'],
    beforeLarge: () => Promise<void>,
  ): Promise<WebhookCall> {
    const { headers, method } = exchange.incoming
    const isPost = method === 'POST'
    const query = queryRecord(exchange.query)
    const options = webhookOptions(exchange, query, names)
    const bytes = isPost || hasBody(headers) ? await readBody(exchange, { ...body, beforeLarge }) : NO_BODY
    // Others have their turn between what is done with all of a large body.
    if (bytes.length > LONG_WORK_BYTES) await setImmediate()
    const payload = await payloadOf(isPost, bytes, headers['content-type'], body.maxBytes)
    if (bytes.length > LONG_WORK_BYTES) await setImmediate()
    const parameters = isPost
      ? boundedParameters(payload.parameters, body.maxBytes)
      : Buffer.from(JSON.stringify(query))
    const areTexts = !isPost || payload.hasTexts === true
    const start: StartRequest = {
      ...named,
      parameters,
      // Only where there are values: types for none are nobody's need.
      textualParameters: areTexts && parameters.length > '{}'.length,
      comment: options.comment,
      settings: { agentPool: options.agentPool },
      webhook: {
        ...caller,
        request: Buffer.from(requestContext(method ?? '', headers, hidden, query, payload)),
        bodyBytes: BigInt(bytes.length),
        answeredAtOnce: options.isAsync,
      },
      idempotencyKey: idempotencyKey(headers['idempotency-key'], {
        method,
        body: bytes,
        query: exchange.query,
        tag: named.tag,
      }),
    }
    return { options, start, files: payload.files ?? [] }
  }
}

/** What is known of the size of a body that has not come whole. */
export function knownBytes({ incoming, bodyBytes }: Exchange): bigint {
  const announced = incoming.headers['content-length'] ?? ''
  return /^\d{1,15}$/.test(announced) ? BigInt(announced) : BigInt(bodyBytes)
}

const NO_BODY = Buffer.alloc(0)

/** Whether a GET has one to read: what is packed is left, as it is by servers that expect none. */
function hasBody(headers: IncomingHttpHeaders): boolean {
  if (headers['content-encoding'] !== undefined) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

async function payloadOf(isPost: boolean, body: Buffer, contentType = '', maxBytes: number): Promise<Payload> {
  const type = mediaTypeOf(contentType)
  requireModestGrowth(body, type, maxBytes)
  if (!isPost) return unreadPayload(body, type)
  const isMultipart = type.essence === 'multipart/form-data' && body.length > 0
  return isMultipart ? readMultipart(body, contentType, maxBytes) : readPayload(body, type)
}

/**
 * The request as process code sees it, as JSON text. Left out are the headers in `hidden`, which steer the call, and
 * `authorization`: only who knows whether the webhook has credentials of its own can tell whether the process may see it.
 */
export function requestContext(
  method: string,
  headers: IncomingHttpHeaders,
  hidden: ReadonlySet<string>,
  query: QueryRecord,
  payload: Payload,
): string {
  const visible = Object.create(null) as Record<string, string | string[] | undefined>
  for (const name in headers) {
    if (hidden.has(name) || name === 'authorization') continue
    visible[name] = headers[name]
  }
  const { rawBody, isBase64 } = payload
  return JSON.stringify({ headers: visible, query, method, rawBody, isBase64: isBase64 || undefined })
}

/** Names of the headers that steer a webhook call, in lower case, and the one that each answer carries. */
interface WebhookHeaders {
  versionTag: string
  async: string
  initiatedBy: string
  agentPool: string
  comment: string
  executionId: string
}

/** The names under a prefix such as `Svc-`. */
export function webhookHeaders(prefix: string): WebhookHeaders {
  const lower = prefix.toLowerCase()
  return {
    versionTag: `${lower}version-tag`,
    async: `${lower}async`,
    initiatedBy: `${lower}initiated-by`,
    agentPool: `${lower}agent-pool`,
    comment: `${lower}comment`,
    executionId: `${prefix}Execution-ID`,
  }
}

/** What a caller asked for in headers and query. */
interface WebhookOptions {
  isAsync: boolean
  /** Body of the answer to an asynchronous call; undefined: the usual JSON. */
  asyncResponse: string | undefined
  agentPool: string | undefined
  comment: string | undefined
}

/**
 * Reads the options of a call; the query wins over headers. Takes what steers out of `query`, so that the process does not
 * get it. Failure: invalid_input for a flag that is none.
 */
function webhookOptions(exchange: Exchange, query: QueryRecord, names: WebhookHeaders): WebhookOptions {
  const { async, async_response: responses } = query
  if (async !== undefined) delete query['async']
  if (responses !== undefined) delete query['async_response']
  const response = first(responses)
  return {
    isAsync: flag('async', first(async)) ?? flag(names.async, headerText(exchange, names.async)) ?? false,
    asyncResponse: response === 'false' ? '' : response || undefined,
    agentPool: headerText(exchange, names.agentPool),
    comment: headerText(exchange, names.comment),
  }
}

function first(values: string | string[] | undefined): string | undefined {
  return typeof values === 'string' ? values : values?.[0]
}

function flag(name: string, value: string | undefined): boolean | undefined {
  if (value === undefined || value === '') return undefined
  switch (value.toLowerCase()) {
    case 'true':
    case '1':
      return true
    case 'false':
    case '0':
      return false
    default:
      throw invalid(`/${name}`, 'must be true or false')
  }
}
