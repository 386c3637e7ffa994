import { asFailure, type Failure } from '@automation/errors'
import type { ConnectionLimits } from '../http/connection-limits.ts'
import { inadmissible, send, type Exchange } from '../http/exchange.ts'
import { problemAnswer } from '../http/problem.ts'
import { HttpServer } from '../http/server.ts'
import { sandboxRoute } from '../observe.ts'
import { forward } from './forward.ts'
import { PublicEntry, publicTarget, type PublicEntryOptions } from './public-entry.ts'
import type { Traffic } from './traffic.ts'
import { answerOn, forwardUpgrade } from './upgrade.ts'

interface PublicPortsOptions extends PublicEntryOptions {
  /** How long an application may take to begin its answer. */
  answerTimeoutMs: number
  connections: ConnectionLimits
  /** Connections without a byte in either direction for so long are cut, but those that were upgraded. */
  idleTimeoutMs: number
  /** Is told of every failure that a caller is answered with. */
  report: (failure: Failure, exchange: Exchange) => void
  ended: (exchange: Exchange) => void
  traffic: Traffic
}

/** The listener for the public ports of sandboxes: HTTP and whatever it is upgraded to, streamed in both directions. */
export class PublicPorts {
  readonly #options: PublicPortsOptions
  readonly #entry: PublicEntry
  readonly #server: HttpServer

  constructor(options: PublicPortsOptions) {
    this.#options = options
    this.#entry = new PublicEntry(options)
    this.#server = new HttpServer({
      bodyMaxBytes: () => Number.POSITIVE_INFINITY,
      requestTimeoutMs: 0,
      connections: options.connections,
      idleTimeoutMs: options.idleTimeoutMs,
      handle: (exchange) => void this.#answer(exchange),
      upgrade: (exchange, socket, head) =>
        forwardUpgrade(this.#entry, exchange, socket, head, options).catch((error: unknown) => {
          options.traffic.failed('upgrade', 'refused')
          answerOn(exchange, socket)
          this.#refuse(asFailure(error), exchange)
        }),
      ended: options.ended,
    })
  }

  listen(port: number, host: string | undefined): Promise<number> {
    return this.#server.listen(port, host)
  }

  async stop(graceMs: number): Promise<void> {
    await this.#server.stop(graceMs)
    await this.#entry.close()
  }

  async #answer(exchange: Exchange): Promise<void> {
    exchange.route = sandboxRoute
    try {
      const refusal = inadmissible(exchange)
      if (refusal !== undefined) throw refusal
      const admitted = await exchange.settle(this.#entry.admit(exchange, false))
      const { target } = admitted
      if (target.rest === undefined) return redirect(exchange, `${target.prefix}/`)
      const connection = await exchange.settle(this.#entry.open(admitted, exchange.outgoing))
      await forward(exchange, connection, admitted, this.#options.answerTimeoutMs)
    } catch (error) {
      this.#refuse(asFailure(error), exchange)
    }
  }

  #refuse(failure: Failure, exchange: Exchange): void {
    this.#options.report(failure, exchange)
    const { requestId, path } = exchange
    // What has begun can't be taken back: the client sees that it is cut off.
    if (exchange.outgoing.headersSent) exchange.outgoing.destroy()
    else
      send(
        exchange.outgoing,
        problemAnswer(failure, { requestId, path, executionIdHeader: '', realm: this.#realm(exchange) }),
      )
  }

  /** Of one sandbox alone, so that no browser shows its password to another. */
  #realm({ path, query, incoming }: Exchange): string {
    const target = publicTarget({ path, query, host: incoming.headers.host ?? '' }, this.#options.domain)
    return target === undefined ? 'sandbox' : `sandbox ${target.sandboxId}`
  }
}

/** Relative links of a page need the slash behind the port. */
function redirect({ outgoing, query, requestId }: Exchange, path: string): void {
  const headers = { Location: query === '' ? path : `${path}?${query}`, 'X-Request-Id': requestId }
  send(outgoing, { status: 308, headers, body: '' })
}
