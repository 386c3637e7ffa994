import { asFailure, Failure, isPassing } from '@automation/errors'
import type { Attempts } from '@automation/passwords/attempts'
import { addressOf, clientKey, type ClientAddress } from '../../http/caller.ts'
import type { Answer, Exchange } from '../../http/exchange.ts'
import { queryRecord } from '../../http/exchange.ts'
import { methodNotAllowed, noSuchRoute } from '../../http/refusals.ts'
import type { SessionCookie, Sessions } from '../sessions.ts'
import { FlowCookie } from './flow-cookie.ts'
import type { Issuer } from './issuer.ts'
import { identityOf } from './signed-in.ts'

interface OidcRoutesDependencies {
  issuer: Issuer
  clientSecret: string
  sessions: Sessions
  cookie: SessionCookie
  /** That of the console. */
  origin: string
  clientAddress: ClientAddress
  /** Counts those that fail, of all ways in. */
  attempts: Attempts
  /** Is told of what a browser is sent back to the sign-in page with. */
  report: (failure: Failure, exchange: Exchange) => void
}

/** `/session/oidc` and `/session/oidc/callback`: signing in at the issuer. */
export class OidcRoutes {
  readonly #dependencies: OidcRoutesDependencies
  readonly #flow: FlowCookie

  constructor(dependencies: OidcRoutesDependencies) {
    this.#dependencies = dependencies
    this.#flow = new FlowCookie(dependencies.origin, dependencies.clientSecret)
  }

  /** Failures: not_found, method_not_allowed; all that goes wrong on the way leads back to the sign-in page. */
  async answer(exchange: Exchange): Promise<Answer> {
    const { path, incoming, outgoing } = exchange
    const step = {
      '/session/oidc': () => this.#begin(exchange),
      '/session/oidc/callback': () => this.#finish(exchange),
    }[path]
    if (step === undefined) throw noSuchRoute()
    exchange.route = path
    if (incoming.method !== 'GET') {
      outgoing.setHeader('Allow', 'GET')
      throw methodNotAllowed(incoming.method ?? '', 'GET')
    }
    try {
      return await step()
    } catch (error) {
      const failure = asFailure(error)
      this.#dependencies.report(failure, exchange)
      return leadTo(`/sign-in#error=${encodeURIComponent(textOf(failure))}`, [this.#flow.clear()])
    }
  }

  async #begin(exchange: Exchange): Promise<Answer> {
    const { issuer, origin, cookie } = this.#dependencies
    const { url, flow } = await issuer.begin()
    const { returnTo } = queryRecord(exchange.query)
    const kept = { ...flow, returnTo: pathHere(returnTo, origin), formerSessionId: cookie.read(exchange) }
    return leadTo(url, [await this.#flow.set(kept)])
  }

  async #finish(exchange: Exchange): Promise<Answer> {
    const { issuer, sessions, cookie, clientAddress, attempts } = this.#dependencies
    const flow = await this.#flow.read(exchange)
    if (flow === undefined)
      throw new Failure('unauthenticated', 'expired', 'This attempt to sign in has ended: begin again')
    const attempt = attempts.begin(clientKey(addressOf(exchange, clientAddress)), 'console')
    const signedIn = await issuer.finish(exchange.query, flow)
    const { sessionId } = await sessions.open({ case: 'identity', value: identityOf(signedIn) }, exchange)
    attempt.undo()
    // Nobody is in two sessions; another one may have been opened meanwhile.
    for (const former of new Set([flow.formerSessionId, cookie.read(exchange)]))
      if (former !== undefined) await sessions.replace(former, signedIn.subject, exchange)
    return leadTo(flow.returnTo, [cookie.set(sessionId), this.#flow.clear()])
  }
}

/** A path of the console; its root for an address that is none. */
function pathHere(wanted: unknown, origin: string): string {
  if (typeof wanted !== 'string' || !URL.canParse(wanted, origin)) return '/'
  const { origin: leadsTo, pathname, search, hash } = new URL(wanted, origin)
  // Two slashes would be a host.
  return leadsTo === origin && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/'
}

function leadTo(location: string, cookies: string[]): Answer {
  const headers = { Location: location, 'Set-Cookie': cookies, 'Cache-Control': 'no-store' }
  return { status: 302, headers, body: '' }
}

const shownCodes = new Set(['expired', 'no_team', 'sign_in_refused', 'too_many_attempts'])

/** What the page tells of it. */
function textOf(failure: Failure): string {
  if (shownCodes.has(failure.code)) return failure.message
  return isPassing(failure) ? 'The issuer does not answer as it should: try again' : 'Signing in has failed: try again'
}
