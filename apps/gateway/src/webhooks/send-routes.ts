import { ProcessService } from '@automation/contract/catalog/v1/process'
import { VariableService } from '@automation/contract/catalog/v1/variable'
import type { CallContext, Client } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { isText, mediaTypeOf } from '../http/body.ts'
import type { Answer, AnswerHeaders, Exchange } from '../http/exchange.ts'
import { withSentExchange } from '../http/sent-exchange.ts'
import { int32, textMap, uuid } from '../rest/fields.ts'
import { processIdentifier } from '../rest/parameters.ts'
import { type RestApi, type RestDependencies, withFaultsAt } from '../rest/rest-api.ts'
import { samples } from '../rest/samples.ts'
import { raw } from './payload.ts'
import { signatureHeaders } from './signature.ts'
import type { WebhookEntry } from './webhook-entry.ts'
import { sendWebhookInput, wantedRequest, type WantedRequest } from './send-input.ts'

const isBase64 = z.boolean().optional().openapi({ description: '`body` is in base64, for it is no text' })

const sentWebhookRecord = z
  .object({
    executionId: uuid().optional().openapi({ description: 'Absent where nothing was started' }),
    request: z
      .object({ method: z.string(), url: z.string(), headers: textMap(), body: z.string(), isBase64 })
      .openapi({ title: 'SentRequest', description: 'As it was sent, with its signature' }),
    response: z
      .object({
        status: int32(),
        headers: z
          .record(z.string(), z.union([z.string(), z.array(z.string())]))
          .openapi({ description: 'By their names in lower case' }),
        body: z.string(),
        isBase64,
      })
      .openapi({ title: 'SentResponse' }),
    durationMs: int32(),
  })
  .openapi('SentWebhook', {
    example: {
      executionId: samples.executionId,
      request: {
        method: 'POST',
        url: 'http://localhost:8080/api/demo/webhooks/greeting',
        headers: {
          'Content-Type': 'application/json',
          'X-Hub-Signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
        },
        body: JSON.stringify(samples.parameters),
      },
      response: { status: 200, headers: { 'content-type': 'application/json' }, body: '{"hello":"Ada"}' },
      durationMs: 12,
    },
  })

interface SendDependencies extends Pick<RestDependencies, 'config' | 'neighbours' | 'budget'> {
  webhooks: WebhookEntry
}

/** Webhooks of processes, tried from within. */
export function sendRoutes(api: RestApi, dependencies: SendDependencies): void {
  const { config, neighbours, budget, webhooks } = dependencies
  const processes = neighbours.client(ProcessService)
  const variables = neighbours.client(VariableService)
  const one = { tag: 'Processes', parameters: { identifier: processIdentifier } }
  const host = new URL(config.publicUrl).host

  api.add(
    {
      ...one,
      method: 'post',
      scope: 'build',
      path: '/processes/{identifier}/webhook/send',
      summary: 'Send a request to the webhook of a process, signed where that is wanted',
      body: sendWebhookInput,
      bodyOptional: true,
      success: {
        status: 200,
        description: 'What was sent and what the webhook has answered, a refusal included',
        schema: sentWebhookRecord,
      },
    },
    async ({ params, team, principal, exchange, context, body, bodyText }) => {
      const wanted = wantedRequest(body, bodyText)
      const { slug } = await processes.getProcess({ identifier: params['identifier'] ?? '' }, context)
      await sign(wanted, variables, context)
      const { method, headers, query } = wanted
      const target = `/api/${team}/webhooks/${slug}${query === '' ? '' : `?${query}`}`
      headers.set('Host', host)
      if (method === 'POST') headers.set('Content-Length', String(wanted.body.length))
      const request = { method, target, headers: headers.all(), body: wanted.body }
      const cause = { exchange, ip: principal.ip ?? '' }
      const { response, durationMs } = await withSentExchange(request, cause, async (sent) => {
        try {
          const answer = await webhooks.answer(sent, { team, identifier: slug })
          const took = performance.now() - sent.startedAt
          return { response: shownAnswer(answer, sent), durationMs: Math.round(took) }
        } finally {
          budget.release(sent)
        }
      })
      const executionId = response.headers[`${config.headerPrefix}Execution-ID`.toLowerCase()]
      if (typeof executionId === 'string') exchange.executionId = executionId
      return {
        body: {
          executionId: exchange.executionId,
          request: {
            method,
            url: `${config.publicUrl}${target}`,
            headers: Object.fromEntries(request.headers),
            ...shownBody(wanted.body, !wanted.isBase64),
          },
          response,
          durationMs,
        },
      }
    },
  )
}

/** Adds the signature to what is to be sent. Failure: invalid_input at /signWith/variable. */
async function sign(
  { signing, headers, body }: WantedRequest,
  variables: Client<typeof VariableService>,
  context: CallContext,
): Promise<void> {
  if (signing === undefined) return
  const { variable: key, scheme, header } = signing
  const signed = async (message: Buffer) => {
    const answer = variables.signWithVariable({ key, message }, context)
    return (await withFaultsAt(answer, () => '/signWith/variable')).hmac
  }
  const added = await signatureHeaders(body, { scheme, header, nowMs: Date.now(), sign: signed })
  for (const [name, value] of added) headers.set(name, value)
}

/** An answer of the webhook entry, with the headers that were set before it. */
function shownAnswer(answer: Answer, { outgoing }: Exchange) {
  // No name means anything else than a header.
  const headers = Object.create(null) as AnswerHeaders
  for (const [name, value] of [...Object.entries(outgoing.getHeaders()), ...Object.entries(answer.headers)])
    if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value : String(value)
  const type = headers['content-type']
  const isTextual = typeof answer.body === 'string' || isText(mediaTypeOf(String(type ?? '')).essence)
  const body = shownBody(Buffer.from(answer.body as Uint8Array), isTextual)
  return { status: answer.status, headers, ...body }
}

function shownBody(bytes: Buffer, isTextual: boolean): { body: string; isBase64?: true } {
  const { rawBody, isBase64: inBase64 } = raw(bytes, isTextual)
  return { body: rawBody, ...(inBase64 && { isBase64: true as const }) }
}
