import type { GatewayConfig } from '../config.ts'
import { readBody } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import { mediaTypeOf } from '../http/media-type.ts'
import { idempotencyKey } from '../idempotency.ts'
import type { StartRequest } from '../inputs/run.ts'
import { queryRecord } from '../routes/query-record.ts'
import { readMultipart } from './multipart.ts'
import { STEERING_PARAMETERS, webhookOptions, type WebhookHeaders, type WebhookOptions } from './options.ts'
import { NO_PAYLOAD, readPayload, type FormFile, type Payload } from './payload.ts'
import { basicCredentials, requestContext } from './request-context.ts'

/** A webhook request, read: how to answer it, and what it starts. */
export interface WebhookCall {
  options: WebhookOptions
  start: StartRequest
  files: FormFile[]
}

export type ReadWebhookCall = (exchange: Exchange, identifier: string) => Promise<WebhookCall>

/** Makes the reader of webhook requests. Failures: invalid_input, invalid_json, and those of the body. */
export function webhookCallReader(config: GatewayConfig, names: WebhookHeaders): ReadWebhookCall {
  const hidden = new Set([names.versionTag, names.async, names.initiatedBy, names.agentPool, names.comment])
  return async (exchange, identifier) => {
    const { headers, method } = exchange.incoming
    const options = webhookOptions(exchange, names)
    const query = queryRecord(exchange.query, STEERING_PARAMETERS)
    const body = method === 'POST' ? await readBody(exchange.incoming, config.bodyMaxBytes) : NO_BODY
    const payload = await payloadOf(body, headers['content-type'])
    const credentials = basicCredentials(headers.authorization)
    const start: StartRequest = {
      identifier,
      tag: options.tag,
      parameters: Buffer.from(method === 'POST' ? payload.parameters : JSON.stringify(query)),
      comment: options.comment,
      settings: { agentPool: options.agentPool },
      webhook: {
        request: Buffer.from(requestContext(method ?? '', headers, hidden, query, payload)),
        username: credentials?.username,
        password: credentials?.password,
        authorization: headers.authorization,
      },
      idempotencyKey: idempotencyKey(headers['idempotency-key'], { body, query: exchange.query, tag: options.tag }),
    }
    return { options, start, files: payload.files ?? [] }
  }
}

const NO_BODY = Buffer.alloc(0)

async function payloadOf(body: Buffer, contentType: string | undefined): Promise<Payload> {
  if (body.length === 0) return NO_PAYLOAD
  const type = mediaTypeOf(contentType)
  if (type.essence === 'multipart/form-data') return await readMultipart(body, contentType ?? '')
  return readPayload(body, type)
}
