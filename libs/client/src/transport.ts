import { AccessTokens, type TokenSource } from './access-tokens.ts'
import { apiErrorOf, ConnectionError } from './errors.ts'
import type { Token } from './generated/types.ts'
import { isRejection, isRepeatable, mayBeDone, pause, pauseMs, reasonOf, saysDone, until } from './retries.ts'

export type QueryValue = string | number | boolean | Date | null | undefined
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[]>>

/** What every call takes. */
export interface CallOptions {
  /** Stops waiting; rejects with its reason. What the service has begun goes on. */
  signal?: AbortSignal
  /** For one attempt, its whole answer included; that of the client where absent, and more where much is sent. */
  requestTimeoutMs?: number
  headers?: Readonly<Record<string, string | undefined>>
}

/** Of an edit of a record: with the tag that it was read with, it overwrites nobody else's. */
export interface EditOptions extends CallOptions {
  /** The `ETag` of the record: `PreconditionFailedError` where somebody has changed it since. */
  ifMatch?: string
}

export interface RequestOptions extends EditOptions {
  query?: Query
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is. A call with a stream is never repeated. */
  rawBody?: BodyInit | Uint8Array
  /**
   * By which the service knows a repeated start, so that it may be repeated. What makes keys is asked for another one where
   * a start was rejected; under a key that was given it stays rejected, and is not repeated.
   */
  idempotencyKey?: string | (() => string)
  /** The media type wanted; JSON where absent. */
  accept?: string
  /**
   * What the path stands below: `{url}/api/{team}/rest` (the default), `{url}/api/{team}`, `{url}`; or nothing, where it
   * is a whole address, which gets no token.
   */
  below?: 'rest' | 'team' | 'host' | 'nothing'
  /** `apiToken` sends that of the client in `x-api-token`, for addresses that take nothing else. */
  authorization?: 'bearer' | 'apiToken' | 'none'
}

export interface TransportOptions {
  url: string
  team: string
  token: TokenSource | undefined
  fetch: typeof fetch
  /** Absent: what is usual for the call. */
  requestTimeoutMs: number | undefined
  maxRetries: number
  /** What names of the service's own headers begin with, such as `Svc-`. */
  headerPrefix: string
  headers: Readonly<Record<string, string>>
}

export interface AttemptOptions {
  /** False: the time limit is for the answer's head alone, and what `read` gives may go on. */
  isRead?: boolean
  maxRetries?: number
  /** Of a call that is known to change nothing the second time. */
  isRepeatable?: boolean
  /** Gives any answer to `read`, whatever its status. */
  takesAnyStatus?: boolean
  /** The answer comes when a run has ended, or the service waits for it no longer. */
  waitsForRun?: boolean
}

interface Attempt extends AttemptOptions {
  /** An earlier one may have done what is asked, its answer was lost. */
  isUnsure?: boolean
}

/** Makes calls: address, credentials, time limits, repetitions; answers that are not good are thrown as ApiError. */
export class Transport {
  readonly #options: TransportOptions
  readonly #tokens: AccessTokens

  constructor(options: TransportOptions) {
    this.#options = options
    this.#tokens = new AccessTokens(options.token, (apiToken) => this.#exchanged(apiToken))
  }

  get headerPrefix(): string {
    return this.#options.headerPrefix
  }

  /** The access token that calls show now; another one where that was `refused`, undefined where there is none. */
  accessToken(refused?: string): Promise<string | undefined> {
    return refused === undefined ? this.#tokens.get() : this.#tokens.instead(refused)
  }

  /** The address of a path. */
  address(path: string, { below = 'rest', query = {} }: Pick<RequestOptions, 'below' | 'query'> = {}): URL {
    const team = `/api/${encodeURIComponent(this.#options.team)}`
    const { url: host } = this.#options
    const base = { rest: `${host}${team}/rest`, team: `${host}${team}`, host, nothing: '' }[below]
    const url = new URL(base + path)
    for (const [name, given] of Object.entries(query))
      for (const value of [given].flat() as QueryValue[])
        if (value !== undefined && value !== null)
          url.searchParams.append(name, value instanceof Date ? value.toISOString() : String(value))
    return url
  }

  /**
   * Calls and reads the answer; both are repeated together where that is safe.
   * @throws ApiError, ConnectionError, and the reason of a signal that is aborted.
   */
  async call<T>(
    method: string,
    path: string,
    options: RequestOptions,
    read: (response: Response) => Promise<T>,
    attempts: AttemptOptions = {},
  ): Promise<T> {
    const { maxRetries = this.#options.maxRetries } = attempts
    const key = keyOf(options)
    const request = await this.#request(method, path, { ...options, idempotencyKey: key })
    const isSafe = attempts.isRepeatable ?? isRepeatable(method, request.headers)
    const most = isSafe && !(request.body instanceof ReadableStream) ? maxRetries : 0
    return this.#repeated(
      most,
      options.signal,
      (isUnsure) => this.#attempt(request, options, read, { ...attempts, isUnsure }),
      () => {
        if (typeof key !== 'function') return false
        request.headers.set('Idempotency-Key', key())
        return true
      },
    )
  }

  /** `renew` makes another call of one that was rejected for good; false where it can't. */
  async #repeated<T>(
    most: number,
    signal: AbortSignal | undefined,
    attempt: (isUnsure: boolean) => Promise<T>,
    renew: () => boolean = () => true,
  ): Promise<T> {
    let isUnsure = false
    for (let failures = 1; ; failures += 1) {
      try {
        return await attempt(isUnsure)
      } catch (error) {
        if (error instanceof NoAccessToken) throw error.cause
        isUnsure ||= mayBeDone(error)
        const waitMs = failures <= most ? pauseMs(error, failures, Math.random()) : undefined
        if (waitMs === undefined || (isRejection(error) && !renew())) throw error
        await pause(waitMs, signal)
      }
    }
  }

  async #request(method: string, path: string, options: RequestOptions): Promise<OutgoingRequest> {
    const headers = new Headers({ Accept: options.accept ?? 'application/json' })
    const add = (more: CallOptions['headers'] = {}) => {
      for (const [name, value] of Object.entries(more)) if (value !== undefined) headers.set(name, headerValue(value))
    }
    add(this.#options.headers)
    if (options.body !== undefined) headers.set('Content-Type', 'application/json')
    add(options.headers)
    const { ifMatch, idempotencyKey: key } = options
    add({ 'If-Match': ifMatch, 'Idempotency-Key': typeof key === 'function' ? key() : key })
    const body = options.body === undefined ? (options.rawBody as BodyInit | undefined) : JSON.stringify(options.body)
    const request = { method, url: this.address(path, options), headers, body }
    return body instanceof FormData ? written(request, body) : request
  }

  async #attempt<T>(
    request: OutgoingRequest,
    options: RequestOptions,
    read: (response: Response) => Promise<T>,
    { isRead = true, takesAnyStatus = false, waitsForRun = false, isUnsure = false }: Attempt,
  ): Promise<T> {
    const { signal, below } = options
    const usualMs = this.#options.requestTimeoutMs ?? (waitsForRun ? usualLimits.ofRunsMs : usualLimits.ms)
    const limitMs = options.requestTimeoutMs ?? usualMs + sendingMs(request.body)
    const authorization = below === 'nothing' ? 'none' : options.authorization
    const timeout = new AbortController()
    const timer = limitMs <= longestTimerMs ? setTimeout(() => timeout.abort(), limitMs) : undefined
    const ends = signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal])
    try {
      const response = await this.#authorized(request, authorization, ends)
      if (!response.ok && !takesAnyStatus) {
        const refusal = await apiErrorOf(response)
        if (!isUnsure || !saysDone(request.method, refusal)) throw refusal
        const answer = new Response(null, { status: 204 })
        madeUp.add(answer)
        return await read(answer)
      }
      if (!isRead) clearTimeout(timer)
      return await read(response).catch((error: unknown) => {
        throw isCut(error) ? cut(request, error) : error
      })
    } catch (error) {
      if (signal?.aborted) throw reasonOf(signal)
      throw timeout.signal.aborted ? timedOut(request, limitMs) : error
    } finally {
      clearTimeout(timer)
    }
  }

  /** Sends with the credentials; once more with a new access token where the service has refused the old one. */
  async #authorized(
    request: OutgoingRequest,
    by: RequestOptions['authorization'],
    signal: AbortSignal,
  ): Promise<Response> {
    if (by === 'none') return this.#send(request, request.headers, signal)
    if (by === 'apiToken') return this.#send(request, withHeader(request, 'x-api-token', this.#apiToken()), signal)
    const token = await waited(this.#tokens.get(), signal)
    const first = await this.#send(request, bearing(request, token), signal)
    if (first.status !== 401 || token === undefined || request.body instanceof ReadableStream) return first
    const renewed = await waited(this.#tokens.instead(token), signal)
    if (renewed === undefined) return first
    await first.body?.cancel()
    return this.#send(request, bearing(request, renewed), signal)
  }

  async #send(request: OutgoingRequest, headers: Headers, signal: AbortSignal): Promise<Response> {
    const { method, url, body } = request
    // What is followed gets the headers as well: the API token, and those of the caller.
    const init: RequestInit & { duplex?: 'half' } = { method, headers, body, signal, redirect: 'manual' }
    if (body instanceof ReadableStream) init.duplex = 'half'
    try {
      return await this.#options.fetch(url, init)
    } catch (error) {
      throw cut(request, error)
    }
  }

  #apiToken(): string {
    const token = this.#tokens.apiToken
    if (token === undefined) throw new TypeError('This call takes an API token: give it to the client as `token`')
    return token
  }

  async #exchanged(apiToken: string): Promise<Token> {
    const options = { headers: { 'x-api-token': apiToken }, authorization: 'none' } as const
    // It changes nothing that a second one could change again, so that it may be repeated.
    const request = await this.#request('POST', '/auth/token', options)
    const read = (response: Response) => response.json() as Promise<Token>
    return this.#repeated(this.#options.maxRetries, undefined, () => this.#attempt(request, options, read, {}))
  }
}

/** The bytes of a text in UTF-8, each as a character. */
export const utf8Of = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text))

/** As fetch takes it: what it would refuse, as it is no Latin-1, in UTF-8, which the service reads as well. */
const headerValue = (text: string) => (/[^\0-\xff]/.test(text) ? utf8Of(text) : text)

const madeUp = new WeakSet<Response>()

/** Whether this stands for the answer that was lost of an attempt which has done what a repeated one was asked for. */
export const isOfLostAnswer = (response: Response): boolean => madeUp.has(response)

interface OutgoingRequest {
  method: string
  url: URL
  headers: Headers
  body: BodyInit | undefined
}

/** Its cause is why: who gets the token has repeated that already. */
class NoAccessToken extends Error {}

/** A token, for as long as the signal lets its call wait: others may wait for the same one. */
async function waited<T>(token: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await until(token, signal)
  } catch (cause) {
    throw signal.aborted ? cause : new NoAccessToken('There is no access token', { cause })
  }
}

/** With its form written once: each time it is, it has another boundary, and the service knows a repeated start by its bytes. */
async function written(request: OutgoingRequest, form: FormData): Promise<OutgoingRequest> {
  const once = new Response(form)
  const headers = withHeader(request, 'Content-Type', once.headers.get('Content-Type')!)
  return { ...request, headers, body: await once.arrayBuffer() }
}

function withHeader({ headers }: OutgoingRequest, name: string, value: string): Headers {
  const all = new Headers(headers)
  all.set(name, value)
  return all
}

const bearing = (request: OutgoingRequest, token: string | undefined): Headers =>
  token === undefined ? request.headers : withHeader(request, 'Authorization', `Bearer ${token}`)

/** Operators may have the service wait for a run for more than its usual 55 s. */
const usualLimits = { ms: 60_000, ofRunsMs: 120_000 }
/** What timers can take. */
const longestTimerMs = 2 ** 31 - 1
/** A connection that is slower than this is taken for dead. */
const slowestBytesPerSecond = 64 * 1024

/** How long a body may take beside the time for its answer; of a stream, for ever. */
function sendingMs(body: BodyInit | undefined): number {
  if (body instanceof ReadableStream) return Infinity
  const bytes = body instanceof Blob ? body.size : typeof body === 'string' ? body.length : byteLength(body)
  return Math.floor(bytes / slowestBytesPerSecond) * 1000
}

const byteLength = (body: unknown) => (body instanceof ArrayBuffer || ArrayBuffer.isView(body) ? body.byteLength : 0)

/** Reading a body that is cut fails with a TypeError or a DOMException; what is no JSON is a SyntaxError. */
const isCut = (error: unknown) => error instanceof TypeError || error instanceof DOMException

function cut({ method, url }: OutgoingRequest, cause: unknown): ConnectionError {
  const why = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : String(cause)
  return new ConnectionError(`${method} ${url.origin}${url.pathname}: the service is not reached: ${why}`, { cause })
}

function timedOut({ method, url }: OutgoingRequest, ms: number): ConnectionError {
  const text = `${method} ${url.origin}${url.pathname}: no answer within ${ms} ms (requestTimeoutMs)`
  return new ConnectionError(text, { code: 'timeout' })
}

/** The key of a start: one that its caller has given, also among the headers, before one that the client makes. */
function keyOf({ idempotencyKey: key, headers = {} }: RequestOptions): RequestOptions['idempotencyKey'] {
  if (typeof key !== 'function') return key
  const given = Object.entries(headers).find(([name]) => name.toLowerCase() === 'idempotency-key')
  return given?.[1] ?? key
}
