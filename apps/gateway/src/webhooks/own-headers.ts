import type { Exchange } from '../http/exchange.ts'
import { basicChallenge } from '../http/problem.ts'
import type { HeaderRules } from './answer-headers.ts'
import { webhookTarget } from './target.ts'

/** How a gateway is reached, as far as the headers of answers depend on it. */
export interface PublicAddress {
  host: string
  /** What addresses have before the gateway's own path; mostly nothing. */
  path: string
}

/** The host and path that a public URL names. */
export function publicAddress(url: string): PublicAddress {
  const { hostname, pathname } = new URL(url)
  return { host: hostname, path: pathname === '/' ? '' : pathname }
}

/** The rules for the answer of one webhook; nothing is worked out for answers without headers of their own. */
export class WebhookHeaderRules implements HeaderRules {
  readonly reserved: string
  readonly #exchange: Exchange
  readonly #address: PublicAddress

  constructor(exchange: Exchange, address: PublicAddress, reserved: string) {
    this.reserved = reserved
    this.#exchange = exchange
    this.#address = address
  }

  isOwnHost(domain: string): boolean {
    const { host } = this.#exchange.incoming.headers
    return domain === this.#address.host || domain === host?.replace(/:\d+$/, '').toLowerCase()
  }

  get path(): string {
    return `${this.#address.path}${this.#exchange.path}`
  }

  get challenge(): string {
    return basicChallenge(realmOf(this.#exchange.path))
  }

  get sharesHost(): boolean {
    return !this.#exchange.isTeamHost
  }
}

/** The realm of one webhook alone, so that no browser shows its password to another. */
export function realmOf(path: string): string {
  const target = webhookTarget(path)
  return target === undefined ? 'webhook' : `webhook ${target.team}/${target.identifier}`
}
