import { hash } from 'node:crypto'
import { isTeamSlug } from '@automation/contract/forms'
import { Failure } from '@automation/errors'
import { LRUCache } from 'lru-cache'
import { apiTokenIdentity } from '../auth/api-token-caller.ts'
import { isApiToken, principalFor, type Identity } from '../auth/token-verifier.ts'
import { addressOf, callContext } from '../http/caller.ts'
import type { Exchange } from '../http/exchange.ts'
import type { RestDependencies } from '../rest/rest-api.ts'
import type { McpCaller } from './rest-calls.ts'

/** For so long a revoked API token still works. */
const keptMs = 3000
const nobody = { role: 'user', team: '', subject: '', name: '' } as const

type CallerDependencies = Pick<
  RestDependencies,
  'config' | 'verifier' | 'neighbours' | 'teamAddresses' | 'clientAddress' | 'calls'
>

/** Finds out who connects: by an API token, an access token, or a token of the outside issuer for this address. */
export class McpCallers {
  readonly #dependencies: CallerDependencies
  /** Of API tokens, by their digests: each exchange is a call of the catalog. */
  readonly #known = new LRUCache<string, Identity>({ max: 10_000, ttl: keptMs })

  constructor(dependencies: CallerDependencies) {
    this.#dependencies = dependencies
  }

  /** Who has sent a request for a team. Failures: those of tokens, forbidden, too_many_calls. */
  async of(exchange: Exchange, team: string): Promise<Omit<McpCaller, 'client'>> {
    const { teamAddresses, clientAddress, calls } = this.#dependencies
    const ip = addressOf(exchange, clientAddress)
    const identity = await this.#identity(exchange, team)
    const { scope = '' } = principalFor(identity, team, undefined, ip)
    teamAddresses.check(team, ip)
    calls.count(team, performance.now())
    return { exchange, team, ip, identity, scope }
  }

  async #identity(exchange: Exchange, team: string): Promise<Identity> {
    const { verifier, config } = this.#dependencies
    const { authorization } = exchange.incoming.headers
    const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
    if (token === undefined) throw tokenMissing(team)
    if (isApiToken(token)) return this.#exchanged(token, exchange)
    return verifier.verify(token, `${config.publicUrl}/api/${team}/mcp`)
  }

  async #exchanged(apiToken: string, exchange: Exchange): Promise<Identity> {
    const { neighbours, config, verifier } = this.#dependencies
    const digest = hash('sha256', apiToken, 'base64')
    const known = this.#known.get(digest)
    if (known !== undefined && known.endsMs > Date.now()) return verifier.unlessRevoked(known)
    try {
      const identity = await apiTokenIdentity(neighbours, apiToken, callContext(exchange, nobody, config.callTimeoutMs))
      this.#known.set(digest, identity)
      return identity
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'api_token_invalid') throw error
      throw new Failure('unauthenticated', 'token_invalid', 'The API token is malformed, unknown or revoked', {
        cause: error,
      })
    }
  }
}

function tokenMissing(team: string): Failure {
  const text =
    'An API token or an access token is needed, in the header Authorization: Bearer <token>. ' +
    `POST /api/${isTeamSlug(team) ? team : '{team}'}/rest/auth/service-accounts with {"name": "assistant", "scopes": ["mcp:tools"]} makes an API token`
  return new Failure('unauthenticated', 'token_missing', text)
}
