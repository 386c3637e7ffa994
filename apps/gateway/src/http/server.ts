import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Failure } from '@automation/errors'
import { refuseConnect, refuseOnSocket } from './client-faults.ts'
import { Exchange } from './exchange.ts'
import { linger } from './linger.ts'
import { OpenExchanges } from './open-exchanges.ts'

const HEADER_BYTES = 16 * 1024

/** Limits on slow and idle clients, in ms. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
  // Longer than proxies in front usually keep theirs, so that they close first.
  keepAliveTimeout: 65_000,
}

export interface ServerOptions {
  bodyMaxBytes: number
  /** Connections without a byte in either direction for so long are cut. */
  idleTimeoutMs: number
  /** Answers an exchange; never throws. */
  handle: (exchange: Exchange) => void
  /** Is told when an exchange is over, answered or not. */
  ended: (exchange: Exchange) => void
}

/** The HTTP server: limits on what clients may do, and an orderly stop. */
export class HttpServer {
  readonly #server: Server
  readonly #options: ServerOptions
  readonly #open = new OpenExchanges()
  #stopping = false
  #idle: (() => void) | undefined

  constructor(options: ServerOptions) {
    this.#options = options
    // Requests without Host are refused by our own answer, in problem form.
    const server = createServer({ ...LIMITS, maxHeaderSize: HEADER_BYTES, requireHostHeader: false })
    server.maxHeadersCount = 0
    server.timeout = options.idleTimeoutMs
    server.on('request', (incoming, outgoing) => this.#request(incoming, outgoing))
    server.on('checkContinue', (incoming, outgoing) => {
      if (!(Number(incoming.headers['content-length']) > options.bodyMaxBytes)) outgoing.writeContinue()
      this.#request(incoming, outgoing)
    })
    server.on('checkExpectation', (incoming, outgoing) => this.#request(incoming, outgoing))
    server.on('clientError', refuseOnSocket)
    server.on('connect', (_request, socket) => refuseConnect(socket))
    this.#server = server
  }

  /** Resolves with the port that it listens on. */
  listen(port: number, host: string | undefined): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject)
        resolve((this.#server.address() as AddressInfo).port)
      })
    })
  }

  /** Accepts nothing new; what runs is answered within `graceMs`, then given up with 503. May be called twice. */
  async stop(graceMs: number): Promise<void> {
    if (!this.#server.listening) return
    this.#stopping = true
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const { outgoing } of this.#open.all()) outgoing.shouldKeepAlive = false
    this.#server.closeIdleConnections()
    await this.#answered(graceMs)
    for (const exchange of this.#open.all())
      exchange.abandon(new Failure('unavailable', 'stopping', 'The service is stopping', { retryAfterS: 1 }))
    await this.#answered(500)
    this.#server.closeAllConnections()
    await closed
  }

  /** Resolves when nothing is being answered, or after `timeoutMs`. */
  #answered(timeoutMs: number): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs)
      this.#idle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #request(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const exchange = new Exchange(incoming, outgoing)
    const remove = this.#open.add(exchange)
    if (this.#stopping) outgoing.shouldKeepAlive = false
    outgoing.on('close', () => {
      remove()
      this.#over(exchange)
    })
    this.#options.handle(exchange)
  }

  #over(exchange: Exchange): void {
    if (exchange.outgoing.writableFinished) linger(exchange.incoming)
    else exchange.abandon(new Failure('unavailable', 'client_gone', 'The client has gone'))
    this.#options.ended(exchange)
    if (this.#open.size === 0) this.#idle?.()
  }
}
