import { at, type Api, type Call } from '../api.ts'
import { executionIdOf } from '../errors.ts'
import type * as types from '../generated/types.ts'
import { Run } from '../run.ts'
import { newKey } from '../retries.ts'
import { utf8Of, type AttemptOptions, type CallOptions, type Query } from '../transport.ts'

export interface WebhookCall extends CallOptions {
  /** POST where there is a body, else GET. */
  method?: 'GET' | 'POST'
  query?: Query
  /** Text, bytes and forms are sent as they are, anything else as JSON. */
  body?: unknown
  /** A version's tag or id, or an alias. */
  tag?: string
  comment?: string
  agentPool?: string
  initiatedBy?: string
  /** User name and password of the webhook. */
  credentials?: { username: string; password: string }
  /** The same key gives the same run for 24 h. Each call has one of its own where it is absent. */
  idempotencyKey?: string
}

/** Webhooks: processes that are started by plain HTTP. */
export class Webhooks {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Its address, for whoever is to call it. */
  url(process: string): string {
    return this.#api.address(at`/webhooks/${process}`, { below: 'team' })
  }

  /**
   * Calls it as others do, without this client's token, and gives what the process answers, whatever its status; a
   * redirect as it is, too.
   *
   * @example
   * const response = await pas.webhooks.call('greeting', { body: { name: 'Ada' } })
   * console.log(response.status, await response.json())
   */
  call(process: string, call: WebhookCall = {}): Promise<Response> {
    return this.#called(process, call, {}, { takesAnyStatus: true, waitsForRun: true })
  }

  /** Calls it and gives the run at once. */
  async start(process: string, call: WebhookCall = {}): Promise<Run> {
    const response = await this.#called(process, call, { async: true })
    const { id } = (await response.json()) as types.WebhookExecution
    return new Run(this.#api, executionIdOf(response.headers) ?? id, { signal: call.signal })
  }

  /** The service signs a request and sends it to the webhook, and tells what it has sent and got. Is never repeated. */
  send(process: string, input: types.SendWebhookInput = {}, options?: CallOptions): Call<types.SentWebhook> {
    return this.#api.call(
      'POST',
      at`/processes/${process}/webhook/send`,
      { ...options, body: input },
      { waitsForRun: true },
    )
  }

  /** The last 100 calls, refused ones with the reason. */
  deliveries(process: string, options?: CallOptions): Call<types.WebhookDelivery[]> {
    return this.#api.call('GET', at`/processes/${process}/webhook/deliveries`, options)
  }

  #called(process: string, call: WebhookCall, query: Query, attempts: AttemptOptions = {}): Promise<Response> {
    const { body, method = body === undefined ? 'GET' : 'POST', idempotencyKey = newKey, signal, ...given } = call
    const options = {
      ...{ signal, requestTimeoutMs: given.requestTimeoutMs, idempotencyKey, accept: '*/*' },
      ...(isPlain(body) ? { body } : { rawBody: body as BodyInit | undefined }),
      query: { ...given.query, ...query },
      headers: { ...this.#headers(given), ...given.headers },
      below: 'team' as const,
      authorization: 'none' as const,
    }
    // A GET starts a run as well: the key makes it safe.
    return this.#api.open(method, at`/webhooks/${process}`, options, attempts)
  }

  #headers({ tag, comment, agentPool, initiatedBy, credentials }: WebhookCall): Record<string, string> {
    const words = { 'Version-Tag': tag, Comment: comment, 'Agent-Pool': agentPool, 'Initiated-By': initiatedBy }
    const own = Object.entries(words).flatMap(([name, value]) =>
      value === undefined ? [] : [[this.#api.headerName(name), value] as const],
    )
    const basic = credentials && {
      Authorization: `Basic ${btoa(utf8Of(`${credentials.username}:${credentials.password}`))}`,
    }
    return { ...Object.fromEntries(own), ...basic }
  }
}

/** Neither text nor bytes nor a form, which fetch sends as they are. */
function isPlain(body: unknown): boolean {
  if (typeof body === 'string' || ArrayBuffer.isView(body)) return false
  const own = [ArrayBuffer, Blob, FormData, URLSearchParams, ReadableStream]
  return body !== undefined && !own.some((kind) => body instanceof kind)
}
