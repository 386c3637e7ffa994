import {
  createSecureServer,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Server, Socket } from 'node:net'
import { SandboxRouteService } from '@automation/contract/sandbox/v1/sandbox'
import { asFailure, Failure } from '@automation/errors'
import { asService, ownContext, type Client, type Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'
import type { TlsIdentity } from '../config.ts'
import { DaemonSessions } from './daemon-sessions.ts'
import { ConnectionLimits } from '../http/connection-limits.ts'
import { listen } from '../http/listen.ts'
import { callHeaders, forwardCall } from './forward-call.ts'
import { answerHealth, begin, endLate, refuseCall } from './grpc-answers.ts'
import { keptAlive } from './kept-alive.ts'
import type { Traffic } from './traffic.ts'
import { Uses } from './uses.ts'

const self = asService('gateway')
const health = 'grpc.health.v1.Health'

/** What users may call; all else a daemon serves is for the system. */
const forUsers = new Set([health, 'automation.sandbox.v1.CommandService', 'automation.sandbox.v1.FileService'])

const watch = { pingMs: 20_000, idleMs: 300_000 }

/** Calls at a time: of each as much waits here as the windows of both its streams have. */
const most = { inAll: 2000, ofTeam: 400, ofSandbox: 200 }

// More calls than a sandbox may have: one beyond is told so, and does not wait at its client for its turn.
const settings = {
  maxConcurrentStreams: most.ofSandbox + 100,
  initialWindowSize: 128 * 1024,
  maxHeaderListSize: 16 * 1024,
}

/** Connections beyond are refused; each holds some memory here, and many calls go over one. */
const connectionBounds = { max: 2000, maxOfAddress: 1000 }

const handshakeMs = 10_000

/** Of calls whose sandbox is not known yet, at a time. */
const mostSought = 1000

/** Of the gateway's own health, at a time. */
const mostWatches = 1000

interface GrpcPortOptions {
  neighbours: Neighbours
  callTimeoutMs: number
  logger: Logger
  traffic: Traffic
  /** Undefined: without TLS. */
  tls: TlsIdentity | undefined
  isProxy: (address: string) => boolean
}

/**
 * The listener for the gRPC interface of sandboxes: finds each call's sandbox by its `x-api-key`, anew for every call, and
 * passes it on. Health without a key is the gateway's own.
 */
export class GrpcPort {
  readonly #options: GrpcPortOptions
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #sessions = new Set<ServerHttp2Session>()
  readonly #daemons = new DaemonSessions()
  #routes: Client<typeof SandboxRouteService> | undefined
  readonly #uses = new Uses(most)
  #watches = 0
  #sought = 0

  constructor(options: GrpcPortOptions) {
    this.#options = options
    const { tls, isProxy } = options
    const connections = new ConnectionLimits({ ...connectionBounds, isProxy })
    this.#server =
      tls === undefined
        ? createServer({ settings })
        : createSecureServer({ settings, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: handshakeMs })
    this.#server.on('connection', (socket: Socket) => {
      const release = connections.admit(socket.remoteAddress ?? '')
      if (release === undefined) return socket.destroy()
      this.#sockets.add(socket)
      socket.once('close', () => {
        this.#sockets.delete(socket)
        release()
      })
    })
    this.#server.on('session', (session: ServerHttp2Session) => this.#begin(session))
    this.#server.on('sessionError', () => undefined) // the session has closed itself
  }

  /** Resolves with the port that it listens on. */
  listen(port: number, host: string | undefined): Promise<number> {
    return listen(this.#server, port, host)
  }

  /** No new calls; those in progress may end within `graceMs`, then they are cut. */
  async stop(graceMs: number): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const session of this.#sessions) session.close()
    const cut = setTimeout(() => this.#cut(), graceMs)
    await closed
    clearTimeout(cut)
    this.#daemons.close()
  }

  #cut(): void {
    for (const session of this.#sessions) session.destroy()
    // Those that have not become a session.
    for (const socket of this.#sockets) socket.destroy()
  }

  #begin(session: ServerHttp2Session): void {
    const { used } = keptAlive(session, watch)
    this.#sessions.add(session)
    session.on('close', () => this.#sessions.delete(session))
    session.on('stream', (stream, headers) => {
      stream.on('error', () => undefined) // `close` follows
      used(stream)
      endLate(stream)
      this.#pass(stream, headers).catch((error: unknown) => this.#refuse(stream, asFailure(error)))
    })
  }

  async #pass(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    if (headers[':method'] !== 'POST' || !/^application\/grpc(?:[+;]|$)/.test(headers['content-type'] ?? ''))
      return void begin(stream, { ':status': 415 }, { endStream: true })
    const [, service = '', method = ''] = (headers[':path'] ?? '').split('/')
    const key = headers['x-api-key']
    if (service === health && key === undefined) return this.#answerHealth(stream, method)
    if (typeof key !== 'string' || key === '' || key.length > 256) throw noKey()
    const { sandboxId, team, daemonAddress } = await this.#routeOf(key)
    if (!forUsers.has(service))
      throw new Failure('unimplemented', 'unimplemented', 'This operation is not part of the interface of sandboxes')
    if (stream.destroyed || stream.closed) return
    stream.once('close', this.#uses.take({ sandboxId, team }))
    this.#options.traffic.passed('call', stream)
    forwardCall(stream, this.#daemons.request(sandboxId, daemonAddress, callHeaders(headers)))
  }

  /** Those who watch are bounded: they need no key, and each holds a stream for as long as it likes. */
  #answerHealth(stream: ServerHttp2Stream, method: string): void {
    if (method === 'Watch') {
      if (this.#watches >= mostWatches) return this.#refuse(stream, tooManyWatches())
      this.#watches += 1
      stream.once('close', () => (this.#watches -= 1))
    }
    answerHealth(stream, method)
  }

  /** Bounded, as who calls may be anybody. */
  async #routeOf(grpcApiKey: string) {
    const { neighbours, callTimeoutMs } = this.#options
    if (this.#sought >= mostSought) throw tooManyCalls()
    this.#routes ??= neighbours.client(SandboxRouteService)
    this.#sought += 1
    try {
      return await this.#routes.resolveKey({ grpcApiKey }, ownContext(self, callTimeoutMs))
    } finally {
      this.#sought -= 1
    }
  }

  #refuse(stream: ServerHttp2Stream, failure: Failure): void {
    this.#options.traffic.failed('call', 'refused')
    if (failure.kind === 'internal')
      this.#options.logger.error({ err: failure.cause ?? failure }, 'a call of a sandbox failed')
    // A system without sandboxes knows no key.
    refuseCall(stream, failure.code === 'service_absent' ? noKey() : failure)
  }
}

function tooManyCalls(): Failure {
  return new Failure('unavailable', 'too_many_connections', 'Too many calls of sandboxes begin at once, try again')
}

function tooManyWatches(): Failure {
  return new Failure('resource_exhausted', 'too_many_streams', 'Too many callers watch the health of this gateway')
}

function noKey(): Failure {
  return new Failure('unauthenticated', 'sandbox_key', 'The call needs the x-api-key of a sandbox that runs')
}
