import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { asFailure, Failure } from '@automation/errors'
import type { Principal } from '@automation/rpc'
import { MessageQueue } from '@automation/rpc/message-queue'
import { WebSocketServer } from 'ws'
import type { CallLimits } from '../auth/call-limits.ts'
import type { TeamAddresses } from '../auth/team-addresses.ts'
import { requireScope } from '../auth/scopes.ts'
import { bearerToken, principalFor, type TokenVerifier } from '../auth/token-verifier.ts'
import type { GatewayConfig } from '../config.ts'
import { addressOf, callContext, type ClientAddress } from '../http/caller.ts'
import { type Exchange, inadmissible, queryRecord, send } from '../http/exchange.ts'
import { problemAnswer } from '../http/problem.ts'
import { malformedRequest } from '../http/refusals.ts'
import { terminalQuery } from '../resources/sandboxes/terminal-routes.ts'
import { sandboxId } from '../rest/parameters.ts'
import { validate } from '../rest/rest-api.ts'
import { commandCall, type CommandRequest, endWithToken } from '../sandbox-ports/command-call.ts'
import { answerOn } from '../sandbox-ports/upgrade.ts'
import type { UserCalls } from '../sandbox-ports/user-calls.ts'
import type { OpenStreams } from '../streams/open-streams.ts'
import { MAX_FRAME_BYTES, TerminalSession, type TerminalSessionOptions, waitingBytes } from './terminal-session.ts'

const form = /^\/api\/([^/?]+)\/rest\/sandboxes\/([^/?]+)\/terminal(?:\?|$)/
const route = '/api/{team}/rest/sandboxes/{sandboxId}/terminal'
const subprotocol = 'bearer'
const shell = ['sh', '-c', 'exec "$(command -v bash || echo sh)"']

interface TerminalDependencies {
  config: GatewayConfig
  verifier: TokenVerifier
  calls: CallLimits
  teamAddresses: TeamAddresses
  clientAddress: ClientAddress
  streams: OpenStreams
  userCalls: UserCalls
  /** Is told of every failure that a caller is answered with. */
  report: (failure: Failure, exchange: Exchange) => void
}

/** Whether a request target is that of a terminal. */
export function isTerminal(target: string): boolean {
  return form.test(target)
}

/**
 * Terminals in sandboxes: WebSockets, for access tokens with the scope `build`. Browsers, which set no headers, bring the
 * token as a subprotocol; no cookie opens anything, so a page of others gains nothing by connecting.
 */
export class TerminalEntry {
  readonly #dependencies: TerminalDependencies
  readonly #sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: MAX_FRAME_BYTES,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  })

  constructor(dependencies: TerminalDependencies) {
    this.#dependencies = dependencies
  }

  /** Opens a terminal, or answers why not. Never rejects. */
  async upgrade(exchange: Exchange, socket: Socket, head: Buffer): Promise<void> {
    try {
      const options = await this.#open(exchange, socket)
      if (socket.destroyed) return options.over()
      const named = (headers: string[]) => headers.push(`X-Request-Id: ${exchange.requestId}`)
      this.#sockets.once('headers', named)
      this.#sockets.handleUpgrade(exchange.incoming, socket, head, (one) => new TerminalSession(one, options))
      this.#sockets.off('headers', named)
    } catch (error) {
      const failure = asFailure(error)
      this.#dependencies.report(failure, exchange)
      answerOn(exchange, socket)
      const { requestId, path } = exchange
      send(exchange.outgoing, problemAnswer(failure, { requestId, path, executionIdHeader: '' }))
    }
  }

  /**
   * Failures: those of tokens, scopes and limits as of any call; malformed_request, sandbox_not_found, sandbox_starting,
   * sandbox_ended, too_many_streams, terminal_unavailable.
   */
  async #open(exchange: Exchange, socket: Socket): Promise<TerminalSessionOptions> {
    const { config, streams, userCalls, report } = this.#dependencies
    requireHandshake(exchange)
    const [, team = '', id = ''] = form.exec(exchange.incoming.url ?? '') ?? []
    exchange.route = route
    exchange.team = team
    const { principal, endsMs } = await this.#caller(exchange, team)
    const sandbox = sandboxId.read(id)
    const { cols: columns, rows } = validate(terminalQuery, queryRecord(exchange.query))
    const ending = new AbortController()
    const slot = streams.take(principal.team)
    const ended = endWithToken(ending, endsMs)
    let release: (() => void) | undefined
    const over = () => {
      ended()
      release?.()
      slot.release()
    }
    socket.once('close', over)
    slot.onStop(() => ending.abort(new Failure('unavailable', 'stopping', 'The service is stopping')))
    try {
      const opened = await userCalls.open(sandbox, callContext(exchange, principal, config.callTimeoutMs))
      release = opened.release
      const requests = new MessageQueue<CommandRequest>(waitingBytes)
      requests.push({ message: { case: 'start', value: { command: shell, pty: { columns, rows } } } })
      const context = callContext(exchange, principal, config.callTimeoutMs)
      const { responses } = await commandCall(opened.channel, requests, {
        context,
        ending,
        timeoutMs: config.callTimeoutMs,
      })
      return { requests, responses, failed: (failure) => report(failure, exchange), over }
    } catch (error) {
      over()
      throw error
    }
  }

  async #caller(exchange: Exchange, team: string): Promise<{ principal: Principal; endsMs: number }> {
    const { verifier, calls, teamAddresses, clientAddress } = this.#dependencies
    const { headers } = exchange.incoming
    const authorization = headers.authorization ?? offeredToken(headers['sec-websocket-protocol'])
    const identity = await verifier.verify(bearerToken(authorization, team))
    const ip = addressOf(exchange, clientAddress)
    const principal = principalFor(identity, team, undefined, ip)
    teamAddresses.check(team, ip)
    calls.count(team, performance.now())
    requireScope(principal, 'build')
    return { principal, endsMs: identity.endsMs }
  }
}

/** `bearer, TOKEN` as a header Authorization has it. */
function offeredToken(protocols: string | undefined): string | undefined {
  const [first, token] = (protocols ?? '').split(',').map((one) => one.trim())
  return first === subprotocol && token !== undefined ? `Bearer ${token}` : undefined
}

/** RFC 6455, 4.2.1. */
function requireHandshake(exchange: Exchange): void {
  const refusal = inadmissible(exchange)
  if (refusal !== undefined) throw refusal
  const { method, headers }: IncomingMessage = exchange.incoming
  const isRight =
    method === 'GET' &&
    headers['sec-websocket-version'] === '13' &&
    /^[A-Za-z0-9+/]{22}==$/.test(headers['sec-websocket-key'] ?? '')
  if (!isRight) throw malformedRequest('This address takes WebSockets of version 13 alone')
}
