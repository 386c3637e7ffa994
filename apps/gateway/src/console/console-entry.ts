import type { Socket } from 'node:net'
import type { Failure } from '@automation/errors'
import { isTeamSlug } from '@automation/contract/forms'
import type { Logger } from '@automation/service'
import type { GatewayConfig } from '../config.ts'
import type { FormFrames } from '../forms/form-frames.ts'
import { decodedPath, inadmissible, send, type Answer, type Exchange } from '../http/exchange.ts'
import { problemAnswer } from '../http/problem.ts'
import { noSuchRoute } from '../http/refusals.ts'
import type { Observer } from '../observe.ts'
import { failureOf, type RestEntry } from '../rest-entry.ts'
import { linkToken } from '../rest/operation.ts'
import { answerOn } from '../sandbox-ports/upgrade.ts'
import type { TerminalEntry } from '../terminals/terminal-entry.ts'
import { requireOwnOrigin, requireOwnSocket } from './cross-site.ts'
import type { ConsoleFiles } from './files.ts'
import { OpenWork, type Right } from './open-work.ts'
import { consoleHeaders, contentPolicy } from './page-policy.ts'
import type { SessionRoutes } from './session-routes.ts'
import { sessionEnded, type SessionCookie, type Sessions } from './sessions.ts'

export interface ConsoleEntryDependencies {
  config: GatewayConfig
  /** That of the console, as browsers know it. */
  origin: string
  rest: RestEntry
  terminals: TerminalEntry
  formFrames: FormFrames
  sessions: Sessions
  cookie: SessionCookie
  routes: SessionRoutes
  files: ConsoleFiles
  observer: Observer
  logger: Logger
}

/** Where a path of the REST interface leads. */
interface ApiTarget {
  team: string
  isForm: boolean
}

/**
 * Requests at the console's own origin: its files, sessions, and the REST interface by a session's cookie. Nothing that
 * process code answers is here, and no other credentials count.
 */
export class ConsoleEntry {
  readonly #dependencies: ConsoleEntryDependencies
  readonly #open: OpenWork
  readonly #executionIdHeader: string
  readonly #initiatedByHeader: string

  constructor(dependencies: ConsoleEntryDependencies) {
    this.#dependencies = dependencies
    const { config, sessions, logger } = dependencies
    this.#open = new OpenWork(sessions, config.sessionLookEveryMs, logger)
    this.#executionIdHeader = `${config.headerPrefix}Execution-ID`
    this.#initiatedByHeader = `${config.headerPrefix}initiated-by`.toLowerCase()
  }

  /** Answers an exchange; never throws. */
  handle(exchange: Exchange): void {
    this.#dependencies.observer.began?.(exchange)
    for (const name in consoleHeaders) exchange.outgoing.setHeader(name, consoleHeaders[name] as string)
    exchange.outgoing.setHeader('Content-Security-Policy', contentPolicy)
    this.#answer(exchange).catch((error: unknown) => this.#refuse(failureOf(error), exchange))
  }

  /** Opens a terminal for a session, or answers why not. Never rejects. */
  async upgrade(exchange: Exchange, socket: Socket, head: Buffer): Promise<void> {
    const { origin, terminals } = this.#dependencies
    try {
      requireOwnSocket(exchange, origin)
      const target = apiTarget(exchange.path)
      if (target === undefined) throw noSuchRoute()
      this.#open.add(await this.#actFor(exchange, target.team), socket)
    } catch (error) {
      answerOn(exchange, socket)
      return this.#refuse(failureOf(error), exchange)
    }
    await terminals.upgrade(exchange, socket, head)
  }

  stop(): void {
    this.#open.stop()
  }

  async #answer(exchange: Exchange): Promise<void> {
    const failure = inadmissible(exchange)
    if (failure !== undefined) throw failure
    const { path } = exchange
    const { routes, files, formFrames } = this.#dependencies
    if (path === '/session' || path.startsWith('/session/'))
      return answer(exchange, await exchange.settle(routes.answer(exchange)))
    if (path.startsWith('/api/')) return this.#api(exchange)
    if (path === '/openapi.json') {
      dropCredentials(exchange)
      return this.#dependencies.rest(exchange)
    }
    exchange.route = 'console file'
    dropCredentials(exchange)
    answer(exchange, await files.answer(exchange, await exchange.settle(formFrames.ancestorsOf(exchange))))
  }

  async #api(exchange: Exchange): Promise<void> {
    requireOwnOrigin(exchange, this.#dependencies.origin)
    const target = apiTarget(exchange.path)
    if (target === undefined) throw noSuchRoute()
    // Who has a form's link needs no session, and it opens no more for who has one.
    if (target.isForm && hasLink(exchange)) dropCredentials(exchange)
    else this.#open.add(await exchange.settle(this.#actFor(exchange, target.team)), exchange.outgoing)
    await this.#dependencies.rest(exchange)
  }

  /** Gives a request the rights of its session in the team, and tells them. Failures: session_ended, forbidden. */
  async #actFor(exchange: Exchange, team: string): Promise<Right> {
    const { sessions, cookie } = this.#dependencies
    const sessionId = cookie.read(exchange)
    dropCredentials(exchange)
    if (sessionId === undefined) throw sessionEnded()
    const { accessToken, name, scopes } = await sessions.access(sessionId, team)
    const { headers } = exchange.incoming
    headers.authorization = `Bearer ${accessToken}`
    // As Node has what came as UTF-8.
    headers[this.#initiatedByHeader] = Buffer.from(name.replaceAll(/\p{Cc}+/gu, ' ')).toString('latin1')
    return { sessionId, team, scopes }
  }

  #refuse(failure: Failure, exchange: Exchange): void {
    this.#dependencies.observer.failed(failure, exchange)
    if (failure.code === 'session_ended') exchange.outgoing.setHeader('Set-Cookie', this.#dependencies.cookie.clear())
    const { requestId, path } = exchange
    const occasion = { requestId, path, executionIdHeader: this.#executionIdHeader }
    const headers = { 'Cache-Control': 'no-store' }
    send(exchange.outgoing, problemAnswer(failure, occasion, headers))
  }
}

function answer({ outgoing, requestId }: Exchange, made: Answer): void {
  outgoing.setHeader('X-Request-Id', requestId)
  send(outgoing, made)
}

/** Of all that came with a request, only the session counts here, and nobody behind sees its cookie. */
function dropCredentials({ incoming: { headers } }: Exchange): void {
  delete headers.cookie
  delete headers.authorization
  delete headers['x-api-token']
}

function hasLink(exchange: Exchange): boolean {
  delete exchange.incoming.headers.authorization
  return linkToken(exchange) !== undefined
}

const apiForm = /^\/api\/([^/]+)\/(rest|forms)\/(.+)$/

/** Neither tokens are given out here, nor does a signed link open anything. */
const notHere = /^(?:auth\/token|storage\/signed\/.*)$/s

/** Further on it would be resolved, to a path that was not looked at. */
const dotSegment = /(?:^|\/)\.\.?(?:\/|$)/

/** What a path of the REST interface is for; undefined for one that is not here. */
function apiTarget(path: string): ApiTarget | undefined {
  const plain = decodedPath(path)
  if (plain === undefined || dotSegment.test(plain)) return undefined
  const [, team = '', kind, rest = ''] = apiForm.exec(plain) ?? []
  if (!isTeamSlug(team) || (kind === 'rest' && notHere.test(rest))) return undefined
  return { team, isForm: kind === 'forms' }
}
