import type { Token } from './generated/types.ts'

/**
 * What a client shows: an API token, which it exchanges; an access token, which it uses as it is; or a function that
 * gives an access token, asked again with `isStale` when the service has refused the last one.
 */
export type TokenSource = string | ((isStale: boolean) => string | Promise<string>)

/** An access token is renewed by so much before it expires. */
const aheadMs = 30_000

/** The access token of a client: got once for all calls, kept until it is about to expire or is refused. */
export class AccessTokens {
  readonly #source: TokenSource | undefined
  readonly #exchange: (apiToken: string) => Promise<Token>
  #current: { token: string; renewAtMs: number } | undefined
  #pending: Promise<string> | undefined

  /** `exchange` gives the access token for an API token. */
  constructor(source: TokenSource | undefined, exchange: (apiToken: string) => Promise<Token>) {
    this.#source = source
    this.#exchange = exchange
  }

  /** The API token that the client was given, if it is one. */
  get apiToken(): string | undefined {
    return typeof this.#source === 'string' && !isAccessToken(this.#source) ? this.#source : undefined
  }

  /** Undefined where the client was given none. */
  async get(): Promise<string | undefined> {
    if (this.#source === undefined) return undefined
    if (this.#current !== undefined && Date.now() < this.#current.renewAtMs) return this.#current.token
    return this.#renewed(this.#current !== undefined)
  }

  /** Another one, as this was refused; undefined where there is none. */
  async instead(refused: string): Promise<string | undefined> {
    if (typeof this.#source === 'string' && isAccessToken(this.#source)) return undefined
    // Another call has renewed it meanwhile.
    const current = await this.get()
    if (current !== refused) return current
    this.#current = undefined
    const renewed = await this.#renewed(true)
    return renewed === refused ? undefined : renewed
  }

  #renewed(isStale: boolean): Promise<string> {
    this.#pending ??= this.#renew(isStale).finally(() => (this.#pending = undefined))
    return this.#pending
  }

  async #renew(isStale: boolean): Promise<string> {
    const source = this.#source
    if (typeof source === 'function') {
      const token = await source(isStale)
      this.#current = { token, renewAtMs: expiryMs(token) - aheadMs }
    } else if (isAccessToken(source!)) this.#current = { token: source!, renewAtMs: Infinity }
    else {
      const { access_token: token, expires_in: seconds } = await this.#exchange(source!)
      // Of a token that lives shortly, half of its life.
      this.#current = { token, renewAtMs: Date.now() + Math.max(seconds * 1000 - aheadMs, seconds * 500) }
    }
    return this.#current.token
  }
}

/** A JSON Web Token has three parts, an API token has one. */
const isAccessToken = (token: string) => /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(token)

/** When a JSON Web Token expires, in milliseconds since 1970; Infinity where it does not say. */
function expiryMs(token: string): number {
  try {
    const claims = token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')
    const { exp } = JSON.parse(atob(claims)) as { exp?: unknown }
    return typeof exp === 'number' ? exp * 1000 : Infinity
  } catch {
    // The service judges tokens; what is read here only says when to renew.
    return Infinity
  }
}
