import type { Session } from '@automation/contract/catalog/v1/session'
import type { Attempts } from '@automation/passwords/attempts'
import { timestampDate } from '@bufbuild/protobuf/wkt'
import { z } from '@hono/zod-openapi'
import type { GatewayConfig } from '../config.ts'
import type { BodyBudget } from '../http/body-budget.ts'
import { isJson, mediaTypeOf, readBody } from '../http/body.ts'
import { addressOf, clientKey, type ClientAddress } from '../http/caller.ts'
import type { Answer, Exchange } from '../http/exchange.ts'
import { invalidJson, parseJson, utf8Text } from '../http/json.ts'
import { methodNotAllowed, noSuchRoute, unsupportedMediaType } from '../http/refusals.ts'
import { validate } from '../rest/rest-api.ts'
import { requireOwnOrigin } from './cross-site.ts'
import type { OidcRoutes } from './oidc/oidc-routes.ts'
import type { SessionCookie, Sessions } from './sessions.ts'

const bodyBytes = 16 * 1024

const opener = z.string().min(1).max(8192)
const credentials = z.union([z.strictObject({ code: opener }), z.strictObject({ apiToken: opener })])

interface SessionRoutesDependencies {
  config: GatewayConfig
  sessions: Sessions
  cookie: SessionCookie
  /** That of the console. */
  origin: string
  budget: BodyBudget
  clientAddress: ClientAddress
  /** Counts those that fail, of all ways in. */
  attempts: Attempts
  /** Signing in at the issuer; undefined where there is none. */
  oidc: OidcRoutes | undefined
}

/** `/session`: who is signed in, signing in and signing out. */
export class SessionRoutes {
  readonly #dependencies: SessionRoutesDependencies

  constructor(dependencies: SessionRoutesDependencies) {
    this.#dependencies = dependencies
  }

  /** Failures: cross_site_request, invalid_credentials, too_many_attempts, and those of a JSON body. */
  async answer(exchange: Exchange): Promise<Answer> {
    const { path, incoming, outgoing } = exchange
    // The issuer is another site, and sends people here.
    if (path !== '/session' && this.#dependencies.oidc !== undefined) return this.#dependencies.oidc.answer(exchange)
    if (path !== '/session') throw noSuchRoute()
    exchange.route = path
    requireOwnOrigin(exchange, this.#dependencies.origin)
    switch (incoming.method) {
      case 'GET':
      case 'HEAD':
        return this.#tell(exchange)
      case 'POST':
        return this.#signIn(exchange)
      case 'DELETE':
        return this.#signOut(exchange)
      default:
        outgoing.setHeader('Allow', 'GET, HEAD, POST, DELETE')
        throw methodNotAllowed(incoming.method ?? '', 'GET, POST or DELETE')
    }
  }

  async #tell(exchange: Exchange): Promise<Answer> {
    const { sessions, cookie } = this.#dependencies
    const sessionId = cookie.read(exchange)
    const session = sessionId === undefined ? undefined : await sessions.read(sessionId)
    const isLost = sessionId !== undefined && session === undefined
    return this.#shown(200, session, isLost ? cookie.clear() : undefined)
  }

  async #signIn(exchange: Exchange): Promise<Answer> {
    const { sessions, cookie, clientAddress, attempts } = this.#dependencies
    const given = validate(credentials, await this.#readBody(exchange))
    const attempt = attempts.begin(clientKey(addressOf(exchange, clientAddress)), 'console')
    const opened =
      'code' in given
        ? ({ case: 'code', value: given.code } as const)
        : ({ case: 'apiToken', value: given.apiToken } as const)
    const { sessionId, session } = await sessions.open(opened, exchange)
    attempt.undo()
    // Nobody is in two sessions.
    const former = cookie.read(exchange)
    if (former !== undefined) await sessions.close(former, exchange)
    return this.#shown(201, session, cookie.set(sessionId))
  }

  async #signOut(exchange: Exchange): Promise<Answer> {
    const { sessions, cookie } = this.#dependencies
    const sessionId = cookie.read(exchange)
    const next = sessionId === undefined ? undefined : await sessions.close(sessionId, exchange)
    const headers = {
      'Set-Cookie': cookie.clear(),
      'Cache-Control': 'no-store',
      // Where the page goes on, to be signed out at the issuer as well.
      ...(next !== undefined && { Location: next }),
    }
    return { status: 204, headers, body: '' }
  }

  async #readBody(exchange: Exchange): Promise<unknown> {
    const { essence } = mediaTypeOf(exchange.incoming.headers['content-type'])
    if (!isJson(essence)) throw unsupportedMediaType('The body must be application/json')
    const text = utf8Text(await readBody(exchange, { maxBytes: bodyBytes, budget: this.#dependencies.budget }))
    if (text === undefined) throw invalidJson('', 'is not valid UTF-8')
    return parseJson(text)
  }

  #shown(status: number, session: Session | undefined, setCookie: string | undefined): Answer {
    const { config, oidc } = this.#dependencies
    const ways = ['code', 'apiToken', ...(oidc === undefined ? [] : ['oidc'])]
    const body =
      session === undefined
        ? { signedIn: false, ways }
        : { signedIn: true, ...presentSession(session), ...presentSystem(config), ways }
    const headers = {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...(setCookie !== undefined && { 'Set-Cookie': setCookie }),
    }
    return { status, headers, body: JSON.stringify(body) }
  }
}

function presentSession({ name, clientId, grants, endsAt }: Session) {
  return {
    name,
    clientId,
    teams: grants.map(({ team, teamName, scopes }) => ({ slug: team, name: teamName || undefined, scopes })),
    expiresAt: endsAt && timestampDate(endsAt).toISOString(),
  }
}

function presentSystem({ publicUrl, headerPrefix }: GatewayConfig) {
  return { apiUrl: publicUrl, headerPrefix }
}
