/** An answer as it came: `body` is the parsed JSON where the media type says so, else the text. */
export interface Answer<T = unknown> {
  status: number
  headers: Headers
  text: string
  body: T
}

export type QueryValue = string | number | boolean | undefined | readonly string[]

export interface CallOptions {
  query?: Record<string, QueryValue>
  headers?: Record<string, string>
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is. */
  body?: BodyInit
  /** Instead of the client's own access token; null sends none. */
  token?: string | null
  signal?: AbortSignal
}

/** Where a team of a system is reached, and with which token. */
export interface Address {
  host: string
  team: string
  accessToken: string
}

/** What answers are held against. */
export interface AnswerCheck {
  /** What is wrong with an answer to a call of `path`, in words; empty where nothing is. */
  faultsOf(method: string, path: string, answer: Pick<Answer, 'status' | 'headers' | 'text'>): string[]
}

/**
 * A small client of the public interface: one method per HTTP method, nothing is thrown for a status. An answer that
 * `check` finds wrong is thrown, in words.
 */
export class Client {
  readonly address: Address
  readonly rest: string
  readonly webhooks: string
  readonly #check: AnswerCheck | undefined

  constructor(address: Address, check?: AnswerCheck) {
    this.address = address
    this.#check = check
    this.rest = `${address.host}/api/${address.team}/rest`
    this.webhooks = `${address.host}/api/${address.team}/webhooks`
  }

  get<T>(path: string, query?: Record<string, QueryValue>): Promise<Answer<T>> {
    return this.call<T>('GET', path, { query })
  }

  post<T>(path: string, json?: unknown, options?: CallOptions): Promise<Answer<T>> {
    return this.call<T>('POST', path, { json, ...options })
  }

  patch<T>(path: string, json: unknown): Promise<Answer<T>> {
    return this.call<T>('PATCH', path, { json })
  }

  put<T>(path: string): Promise<Answer<T>> {
    return this.call<T>('PUT', path)
  }

  delete<T>(path: string): Promise<Answer<T>> {
    return this.call<T>('DELETE', path)
  }

  /** A call on `{base_url}` with the access token. */
  call<T>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
    return this.#send<T>(`${this.rest}${path}`, method, this.#withToken(options))
  }

  /** A call on a form, with the access token; `path` is the slug. */
  form<T>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
    const { host, team } = this.address
    return this.#send<T>(`${host}/api/${team}/forms/${path}`, method, this.#withToken(options))
  }

  #withToken(options: CallOptions): CallOptions {
    const { token = this.address.accessToken, headers } = options
    const authorization: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
    return { ...options, headers: { ...authorization, ...headers } }
  }

  /** A call at the root of the host, with an API token alone. */
  root<T>(method: string, path: string, apiToken: string, json?: unknown): Promise<Answer<T>> {
    return this.#send<T>(`${this.address.host}${path}`, method, { json, headers: { 'x-api-token': apiToken } })
  }

  /** A call on `{webhook_url}`, without a token; `path` is the slug, with more behind it where wanted. */
  webhook<T>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
    return this.#send<T>(`${this.webhooks}/${path}`, method, options)
  }

  async #send<T>(url: string, method: string, options: CallOptions): Promise<Answer<T>> {
    const answer = await send<T>(url, method, options)
    const faults = this.#check?.faultsOf(method, new URL(url).pathname, answer) ?? []
    if (faults.length > 0)
      throw new Error(`An answer breaks the OpenAPI document: ${faults.join('; ')}\n${answer.text.slice(0, 500)}`)
    return answer
  }
}

/** Sends one request to any address. */
export async function send<T>(url: string, method: string, options: CallOptions = {}): Promise<Answer<T>> {
  const { query, headers, json, body, signal } = options
  const target = new URL(url)
  for (const [name, value] of Object.entries(query ?? {}))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) target.searchParams.append(name, String(one))
  const response = await fetch(target, {
    method,
    headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: json === undefined ? body : JSON.stringify(json),
    redirect: 'manual',
    signal,
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parse(response, text) as T }
}

function parse(response: Response, text: string): unknown {
  const type = response.headers.get('content-type') ?? ''
  return /[/+]json\b/.test(type) && text !== '' ? JSON.parse(text) : text
}

/** Exchanges an API token for an access token of its team; throws when that is refused. */
export async function accessTokenOf(host: string, team: string, apiToken: string): Promise<string> {
  const url = `${host}/api/${team}/rest/auth/token`
  const answer = await send<{ access_token: string }>(url, 'POST', { headers: { 'x-api-token': apiToken } })
  if (answer.status !== 200) throw new Error(`The API token was refused with ${answer.status}: ${answer.text}`)
  return answer.body.access_token
}
