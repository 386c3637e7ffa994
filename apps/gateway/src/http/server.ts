import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { Failure } from '@automation/errors'
import type { BodyBudget } from './body-budget.ts'
import { hasBegunToAnswer, refuseConnect, refuseOnSocket, turnAway } from './client-faults.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import { Exchange } from './exchange.ts'
import { linger, LINGER_MS } from './linger.ts'
import { listen } from './listen.ts'
import type { UntakenAnswers } from './untaken-answers.ts'

const HEADER_BYTES = 16 * 1024

/** Limits on slow and idle clients, in ms. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
  // Longer than proxies in front keep theirs, so that they close first: Caddy 120 s, Traefik 90 s, nginx 60 s.
  keepAliveTimeout: 130_000,
}

const MAX_TURNED_AWAY = 500

/** How long a client that sends no more, and may have gone, is waited for with its answer, in ms. */
const HALF_CLOSED_MS = 5000

/** How long a client may take nothing of an answer that is ready, in ms. */
const UNTAKEN_MS = 30_000

/** Requests that wait on one connection for the answer to the one before them, and what they hold. */
const MAX_PIPELINED = 16
const PIPELINED_BYTES = 64 * 1024

// Time for those who call all the time to hear of the stop: a part of the grace, and at most.
const partingShare = 0.1
const partingMs = 4000

export interface ServerOptions {
  /** Of a request to this target: a client that announces more is not told to go on. */
  bodyMaxBytes: (target: string) => number
  /** Gets back what the body of an exchange has held of it, once that is over. */
  budget?: BodyBudget
  /** Connections without a byte in either direction for so long are cut. */
  idleTimeoutMs: number
  /** Bounds answers that wait for their clients: one for which there is no room is cut. */
  untaken?: UntakenAnswers
  /** How long a client may take nothing of an answer that is ready, in ms; 30,000. */
  untakenTimeoutMs?: number
  /** Absent: there may be any number of connections. */
  connections?: ConnectionLimits
  /** A request must have arrived within this time; 60,000. 0: only silence cuts it. */
  requestTimeoutMs?: number
  /** Whether a request to this target may become a WebSocket; absent: any. */
  upgrades?: (target: string) => boolean
  /**
   * Takes connections that are to become WebSockets; absent: such requests are answered like any other. What it writes to
   * the exchange's answer goes nowhere until it gives that the socket. Where it fails, the connection is cut.
   */
  upgrade?: (exchange: Exchange, socket: Socket, head: Buffer) => Promise<void>
  /** Answers an exchange; never throws. */
  handle: (exchange: Exchange) => void
  /** Is told when an exchange is over, answered or not. */
  ended: (exchange: Exchange) => void
}

/**
 * The connection of a request that is answered before its end is not kept: a proxy that sends nothing more of it, such as
 * HAProxy for clients of HTTP/2, would send the next one where the rest of it is awaited.
 */
class Answering extends ServerResponse {
  override writeHead(status: number, ...more: never[]): this {
    if (isAwaited(this.req)) this.shouldKeepAlive = false
    return super.writeHead(status, ...(more as []))
  }
}

/** The HTTP server: limits on what clients may do, and an orderly stop. */
export class HttpServer {
  readonly #server: Server
  readonly #options: ServerOptions
  readonly #open = new OpenExchanges()
  readonly #upgraded = new Set<Socket>()
  readonly #turnedAway = new Set<Socket>()
  /** Of connections on which something is being answered. */
  readonly #pipelines = new WeakMap<Socket, Exchange[]>()
  /** Requests that were answered, and whose rest is read away. */
  #lingering = 0
  #stopping = false
  #idle: (() => void) | undefined
  #connected = 0
  #alone: (() => void) | undefined

  constructor(options: ServerOptions) {
    this.#options = options
    // Requests without Host are refused by our own answer, in problem form.
    const server = createServer({
      ...LIMITS,
      ServerResponse: Answering,
      requestTimeout: options.requestTimeoutMs ?? LIMITS.requestTimeout,
      maxHeaderSize: HEADER_BYTES,
      requireHostHeader: false,
      shouldUpgradeCallback: ({ headers, url = '' }) =>
        options.upgrade !== undefined &&
        headers.upgrade?.toLowerCase() === 'websocket' &&
        // With a body it is a request like any other: Node gives no socket for it.
        !announcesBody(headers) &&
        (options.upgrades?.(url) ?? true),
    })
    server.maxHeadersCount = 0
    // Else Node gives no answer to a client that closes its side behind its request.
    Object.assign(server, { httpAllowHalfOpen: true })
    server.timeout = options.idleTimeoutMs
    server.on('connection', (socket: Socket) => this.#connection(socket))
    server.on('request', (incoming, outgoing) => this.#request(incoming, outgoing))
    server.on('checkContinue', (incoming, outgoing) => {
      const mostBytes = options.bodyMaxBytes(incoming.url ?? '')
      if (!(Number(incoming.headers['content-length']) > mostBytes)) outgoing.writeContinue()
      this.#request(incoming, outgoing)
    })
    server.on('checkExpectation', (incoming, outgoing) => this.#request(incoming, outgoing))
    server.on('upgrade', (incoming, socket, head) => this.#upgrade(incoming, socket as Socket, head))
    server.on('clientError', refuseOnSocket)
    server.on('connect', (_request, socket) => refuseConnect(socket))
    this.#server = server
  }

  /** Resolves with the port that it listens on. */
  listen(port: number, host: string | undefined): Promise<number> {
    return listen(this.#server, port, host)
  }

  /**
   * Clients are told to come no more by the connections that they have; then nothing new is accepted. What runs is answered
   * within `graceMs`, then given up with 503. May be called twice.
   */
  async stop(graceMs: number): Promise<void> {
    if (!this.#server.listening || this.#stopping) return
    this.#stopping = true
    for (const { outgoing } of this.#open.all()) outgoing.shouldKeepAlive = false
    for (const socket of this.#upgraded) socket.destroy()
    // A connection that is cut while nothing happens on it may take along the request that its client sends just then.
    await this.#unconnected(Math.min(graceMs * partingShare, partingMs))
    // Nor may one be cut whose request has come while this process was held up.
    for (let turns = 0; turns < 2; turns += 1) await turn()
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    await this.#answered(graceMs)
    for (const exchange of this.#open.all())
      exchange.abandon(new Failure('unavailable', 'stopping', 'The service is stopping', { retryAfterS: 1 }))
    await this.#answered(LINGER_MS)
    this.#server.closeAllConnections()
    await closed
  }

  /** Resolves when no client is connected, or after `timeoutMs`. */
  #unconnected(timeoutMs: number): Promise<void> {
    if (this.#connected === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs)
      this.#alone = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Resolves when all is answered and has come to the clients, or after `timeoutMs`. */
  #answered(timeoutMs: number): Promise<void> {
    if (this.#isIdle) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs)
      this.#idle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #connection(socket: Socket): void {
    this.#connected += 1
    const leave = this.#options.connections?.admit(socket.remoteAddress ?? '')
    if (leave === undefined && this.#options.connections !== undefined) this.#turnAway(socket)
    socket.on('end', () => this.#halfClosed(socket))
    socket.on('close', () => {
      leave?.()
      this.#connected -= 1
      if (this.#connected === 0) this.#alone?.()
    })
  }

  /** Its client sends no more: it has gone, or waits for its answer. Who has begun to read one has gone. */
  #halfClosed(socket: Socket): void {
    if (!this.#pipelines.has(socket)) return
    const unlessBegun = () => void (hasBegunToAnswer(socket) || socket.end())
    if (hasBegunToAnswer(socket)) return void socket.end()
    const timer = setTimeout(unlessBegun, HALF_CLOSED_MS)
    socket.on('close', () => clearTimeout(timer))
  }

  #turnAway(socket: Socket): void {
    // In a flood there is no time for words.
    if (this.#turnedAway.size >= MAX_TURNED_AWAY) return void socket.destroy()
    this.#turnedAway.add(socket)
    socket.on('close', () => this.#turnedAway.delete(socket))
    turnAway(socket)
  }

  #request(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { socket } = incoming
    // Its parser goes on with what comes on a connection that had its last answer.
    if (socket.writableEnded) return void incoming.resume()
    const waiting = this.#pipelines.get(socket)
    // All that came in one piece is told, also where the connection was cut.
    if (waiting !== undefined && (socket.destroyed || isTooMuch(waiting, incoming))) return void socket.destroy()
    const exchange = new Exchange(incoming, outgoing)
    const remove = this.#open.add(exchange)
    if (this.#stopping) outgoing.shouldKeepAlive = false
    outgoing.on('prefinish', () => this.#written(exchange))
    outgoing.on('close', () => {
      remove()
      this.#over(exchange)
      this.#next(socket)
    })
    if (waiting !== undefined) return void waiting.push(exchange)
    this.#pipelines.set(socket, [])
    this.#options.handle(exchange)
  }

  /** The gateway holds what its client does not take. Whatever that sends meanwhile is not read, as it would prolong the wait. */
  #written(exchange: Exchange): void {
    const { incoming, outgoing } = exchange
    if (!incoming.complete) outgoing.prependListener('finish', () => this.#linger(incoming))
    const { socket } = incoming
    if (socket.writableLength === 0) return
    if (this.#options.untaken?.take(exchange, socket.writableLength) === false) return void socket.destroy()
    // Node resumes it at the end of the request that is being read just now.
    process.nextTick(() => exchange.isOver || socket.pause())
    socket.setTimeout(this.#options.untakenTimeoutMs ?? UNTAKEN_MS)
  }

  /** Begins with the request behind one that was answered: answers that can't be sent yet would only be held. */
  #next(socket: Socket): void {
    if (socket.isPaused()) socket.resume()
    const exchange = this.#pipelines.get(socket)?.shift()
    if (exchange === undefined) return void this.#pipelines.delete(socket)
    socket.setTimeout(this.#options.idleTimeoutMs)
    // Of a stop that has taken too long it has its answer.
    if (!socket.destroyed && !exchange.outgoing.headersSent) this.#options.handle(exchange)
  }

  #upgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): void {
    if (this.#turnedAway.has(socket)) return
    this.#upgraded.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#upgraded.delete(socket))
    // Nobody speaks another protocol before the answers to what was asked on the same connection.
    const isAnswering = this.#open.all().some((exchange) => exchange.incoming.socket === socket)
    if (this.#stopping || isAnswering || socket.writableEnded) return void socket.destroy()
    const exchange = new Exchange(incoming, new ServerResponse(incoming))
    this.#options.upgrade?.(exchange, socket, head).catch(() => socket.destroy())
  }

  #over(exchange: Exchange): void {
    exchange.isOver = true
    if (!exchange.outgoing.writableFinished)
      exchange.abandon(new Failure('unavailable', 'client_gone', 'The client has gone'))
    if (exchange.bodyBytes > 0) this.#options.budget?.release(exchange)
    if (exchange.untakenBytes > 0) this.#options.untaken?.release(exchange)
    this.#options.ended(exchange)
    if (this.#isIdle) this.#idle?.()
  }

  #linger(incoming: IncomingMessage): void {
    if (incoming.complete || incoming.destroyed) return
    this.#lingering += 1
    linger(incoming, () => {
      this.#lingering -= 1
      if (this.#isIdle) this.#idle?.()
    })
  }

  get #isIdle(): boolean {
    return this.#open.size === 0 && this.#lingering === 0
  }
}

/** Whether there is no room for one more request behind those that wait on its connection. */
function isTooMuch(waiting: Exchange[], more: IncomingMessage): boolean {
  if (waiting.length === MAX_PIPELINED) return true
  const bytes = [...waiting.map(({ incoming }) => incoming), more].map(bytesOf)
  return bytes.reduce((sum, one) => sum + one) > PIPELINED_BYTES
}

/** What a request holds that nobody reads yet. */
function bytesOf({ url = '', rawHeaders, readableLength }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length + readableLength)
}

/** Whether more of a request is to come. Where all came in one piece, Node notes its end only behind its handler's first turn. */
function isAwaited({ complete, headers, readableLength }: IncomingMessage): boolean {
  if (complete) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > readableLength
}

function announcesBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined
}

/** A node in a ring of open exchanges. */
interface Node {
  before: Node
  after: Node
  exchange: Exchange | undefined
}

/**
 * The exchanges that are not answered yet. A ring, not a Set: a Set that is added to and deleted from all the time keeps
 * replacing its table, and tables that have grown old keep what was in them until the next full collection.
 */
class OpenExchanges {
  readonly #start: Node
  #size = 0

  constructor() {
    const start = { exchange: undefined } as unknown as Node
    start.before = start
    start.after = start
    this.#start = start
  }

  get size(): number {
    return this.#size
  }

  /** Adds an exchange; the function that it gives takes it out again, once. */
  add(exchange: Exchange): () => void {
    const start = this.#start
    const node: Node = { before: start.before, after: start, exchange }
    start.before.after = node
    start.before = node
    this.#size++
    return () => {
      if (node.exchange === undefined) return
      node.before.after = node.after
      node.after.before = node.before
      // A node that is out must hold on to nothing.
      node.exchange = undefined
      node.before = node
      node.after = node
      this.#size--
    }
  }

  all(): Exchange[] {
    const exchanges: Exchange[] = []
    for (let node = this.#start.after; node.exchange !== undefined; node = node.after) exchanges.push(node.exchange)
    return exchanges
  }
}
