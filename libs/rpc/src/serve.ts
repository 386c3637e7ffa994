import { createServer } from 'node:net'
import type { DescService } from '@bufbuild/protobuf'
import type { Tracer } from '@automation/tracing'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { addressOf } from './address.ts'
import { addServices, type CountOpenCalls, type WireLogger } from './handling.ts'
import { addCallStreams } from './call-stream-server.ts'
import { channelOptions } from './channel-options.ts'
import { verifier } from './credentials.ts'
import { addHealth } from './health.ts'
import { authorizationIn } from './metadata.ts'
import { addReflection } from './reflection.ts'
import type { ServedService } from './service-types.ts'
import type { TlsFolder } from './tls-folder.ts'

export interface ServeOptions {
  host: string
  /** 0 takes a free one. */
  port: number
  internalKey: string
  /** Default: derived from internalKey. */
  runnerKey?: string
  /** Callers must show a certificate; absent: the port is without TLS. */
  tls?: TlsFolder
  maxMessageBytes: number
  /** A peer that answers nothing for twice as long is taken for gone; 4,000. */
  keepaliveMs?: number
  logger: WireLogger
  /** Makes spans of calls. */
  tracer?: Tracer
  /** Counts calls that are open. */
  openCalls?: CountOpenCalls
}

export interface ServedPort {
  port: number
  /** Health says NOT_SERVING from now on, so that callers go elsewhere. */
  drain(): void
  /** No new calls; those in progress may end within `graceMs`, then they are cut. */
  close(graceMs: number): Promise<void>
}

/**
 * Serves proto services over gRPC, with health (for anybody) and reflection (for callers with credentials, and for
 * anybody while it listens on loopback). Every other call without valid credentials is refused as `unauthenticated`.
 */
export async function serve(services: ServedService[], options: ServeOptions): Promise<ServedPort> {
  const { host, port, logger } = options
  const server = new Server(channelOptions(options.maxMessageBytes, options.keepaliveMs))
  const verify = verifier(options)
  const unary = addServices(
    server,
    services,
    (metadata, { parent, name }) => verify(authorizationIn(metadata), parent.typeName, name),
    options,
  )
  const streams = addCallStreams(server, unary, options.maxMessageBytes)
  const descriptors: DescService[] = services.map(({ service }) => service)
  const health = addHealth(server, descriptors)
  await addReflection(server, descriptors, isLoopback(host) ? undefined : verify)
  const bound = await bind(server, host, port, options.tls?.server() ?? ServerCredentials.createInsecure())
  logger.info({ host, port: bound, services: descriptors.map(({ typeName }) => typeName) }, 'serving gRPC')
  let closing: Promise<void> | undefined
  return {
    port: bound,
    drain: health.drain,
    close: (graceMs) => {
      streams.stop()
      return (closing ??= shutDown(server, graceMs))
    },
  }
}

function bind(server: Server, host: string, port: number, credentials: ServerCredentials): Promise<number> {
  const address = addressOf(host, port)
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, bound) => {
      if (error === null) resolve(bound)
      else
        void faultOf(host, port).then((fault) =>
          reject(fault ?? new Error(`Can't listen on ${address} for gRPC: ${error.message}`, { cause: error })),
        )
    })
  })
}

/** The system's own error for an address that can't be listened on: grpc-js tells it in words alone. */
function faultOf(host: string, port: number): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const server = createServer().once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}

function shutDown(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      server.forceShutdown()
      resolve()
    }, graceMs)
    server.tryShutdown(() => {
      clearTimeout(cut)
      resolve()
    })
  })
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}
