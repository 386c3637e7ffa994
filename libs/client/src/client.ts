import type { TokenSource } from './access-tokens.ts'
import { eventStream, type EventStreamOptions, type StreamEvent } from './event-stream.ts'
import { Transport, type Query, type RequestOptions } from './transport.ts'

export type { TokenSource } from './access-tokens.ts'
export * from './errors.ts'
export type { EventStreamOptions, StreamEvent } from './event-stream.ts'
export type * from './generated/types.ts'
export type { CallOptions, Query, RequestOptions } from './transport.ts'

export interface ClientOptions {
  /** Where the service is, such as `https://automation.example.com`. `PAS_URL` where absent. */
  url?: string
  /** Slug of the team. `PAS_TEAM` where absent. */
  team?: string
  /** An API token, an access token, or a function that gives access tokens. `PAS_TOKEN` where absent. */
  token?: TokenSource
  /** In place of the runtime's own, for example with a proxy's settings. */
  fetch?: typeof fetch
  /** How long one attempt of a call may take. 60 s. */
  requestTimeoutMs?: number
  /** How often a call that may be repeated is. 2. */
  maxRetries?: number
  /** Sent with every call. */
  headers?: Readonly<Record<string, string>>
  userAgent?: string
}

/**
 * Calls the service for one team.
 *
 * @example
 * const pas = new Client({ url: 'https://automation.example.com', team: 'demo', token: process.env.PAS_TOKEN })
 * const { data } = await pas.request<Process>('GET', '/processes/greeting')
 */
export class Client {
  readonly url: string
  readonly team: string
  readonly #transport: Transport

  constructor(options: ClientOptions = {}) {
    this.url = urlOf(options.url ?? environment('PAS_URL'))
    this.team = teamOf(options.team ?? environment('PAS_TEAM'))
    this.#transport = new Transport({
      ...{ url: this.url, team: this.team },
      token: options.token ?? environment('PAS_TOKEN'),
      fetch: options.fetch ?? ((...call) => fetch(...call)),
      requestTimeoutMs: options.requestTimeoutMs ?? 60_000,
      maxRetries: options.maxRetries ?? 2,
      headers: { ...userAgent(options.userAgent), ...options.headers },
    })
  }

  /**
   * Calls an address below `{url}/api/{team}/rest` and reads its JSON; `data` is undefined where the answer has no body.
   * @throws ApiError where the service refuses it, ConnectionError where it is not reached.
   */
  request<T>(method: string, path: string, options: RequestOptions = {}): Promise<{ data: T; response: Response }> {
    return this.#transport.call(method, path, options, async (response) => ({
      data: (await jsonOf(response)) as T,
      response,
    }))
  }

  /**
   * Calls an address and gives the answer with its body unread. `requestTimeoutMs` is for the answer's head alone.
   * @throws ApiError where the service refuses it, ConnectionError where it is not reached.
   */
  open(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    return this.#transport.call(method, path, options, (response) => Promise.resolve(response), { isRead: false })
  }

  /** The events of a stream, which goes on behind the last event where it is cut, and ends behind an event `end`. */
  events<T = unknown>(
    path: string,
    { query, ...options }: EventStreamOptions & { query?: Query } = {},
  ): AsyncGenerator<StreamEvent<T>> {
    const open = (lastEventId: string | undefined, signal: AbortSignal) =>
      this.#transport.call(
        'GET',
        path,
        {
          ...{ query, signal, accept: 'text/event-stream' },
          ...(lastEventId !== undefined && { headers: { 'Last-Event-ID': lastEventId } }),
        },
        (response) => Promise.resolve(response),
        { isRead: false, maxRetries: 0 },
      )
    return eventStream(open, options) as AsyncGenerator<StreamEvent<T>>
  }

  /** The access token that calls show now, for connections beside this client's; undefined where it has no token. */
  accessToken(): Promise<string | undefined> {
    return this.#transport.accessToken()
  }
}

async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text()
  if (text === '') return undefined
  return response.headers.get('Content-Type')?.includes('json') ? JSON.parse(text) : text
}

function urlOf(url: string | undefined): string {
  if (url === undefined) throw new TypeError('Say where the service is: give `url`, or set PAS_URL')
  const { protocol } = URL.parse(url) ?? {}
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new TypeError(`${url} is no address of a service: give one such as https://automation.example.com`)
  return url.replace(/\/+$/, '')
}

function teamOf(team: string | undefined): string {
  if (team === undefined || team === '') throw new TypeError('Say which team: give `team`, or set PAS_TEAM')
  return team
}

/** Of runtimes that have one. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return process?.env?.[name] || undefined
}

/** Browsers send their own, and ask other origins whether they take another. */
function userAgent(given?: string): { 'User-Agent'?: string } {
  const name = given ?? ('document' in globalThis ? undefined : 'process-automation-client')
  return name === undefined ? {} : { 'User-Agent': name }
}
