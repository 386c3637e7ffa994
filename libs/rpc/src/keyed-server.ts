export type { WireLogger } from './handling.ts'
import { createServer, type Socket } from 'node:net'
import type { DescMethod } from '@bufbuild/protobuf'
import { asFailure, type Failure } from '@automation/errors'
import {
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  status,
  type ServerInterceptor,
  type ServerListener,
} from '@grpc/grpc-js'
import { addServices } from './handling.ts'
import { channelOptions } from './channel-options.ts'
import type { Principal } from './context.ts'
import type { Verify, WireLogger } from './handling.ts'
import { addHealth } from './health.ts'
import { apiKeyIn, authorizationIn } from './metadata.ts'
import type { ServedService } from './service-types.ts'
import { statusFromFailure } from './status.ts'

/** Where to listen: a listening socket that is inherited, a Unix socket, or an address; of every host where none is named. */
export type Listen = { fd: number } | { path: string } | { host: string | undefined; port: number }

interface KeyedServeOptions {
  listen: Listen
  /**
   * Says who calls, by the `x-api-key` and the `authorization` of a call (empty where it has none); throws for those who
   * may not.
   */
  verify(apiKey: string, method: DescMethod, authorization: string): Principal | Promise<Principal>
  /** Looks at the key before anything that the call brings is taken up; throws a Failure for those who may not. */
  admit?(apiKey: string): Promise<void>
  /** Shown to callers; absent: without TLS. PEM. */
  tls?: { cert: string; key: string }
  /** Counts a connection from an address until what it gives is called; undefined where it is to be refused. */
  admitConnection?(address: string): (() => void) | undefined
  /** Connections without a call for so long are ended. */
  idleMs?: number
  maxMessageBytes: number
  /** Of what it is sent, where that is to be less. */
  maxReceivedBytes?: number
  /** A peer that answers nothing for twice as long is taken for gone. */
  keepaliveMs: number
  logger: WireLogger
}

/** Serves proto services to those who bring an `x-api-key`, and grpc.health.v1 to anybody who is admitted. Quick to load. */
export async function serveKeyed(services: ServedService[], options: KeyedServeOptions): Promise<KeyedServer> {
  const { verify, admit, admitConnection, logger, tls, idleMs } = options
  const server = new Server({
    ...channelOptions(options.maxMessageBytes, options.keepaliveMs),
    'grpc.max_receive_message_length': options.maxReceivedBytes ?? options.maxMessageBytes,
    ...(idleMs !== undefined && { 'grpc.max_connection_idle_ms': idleMs }),
    ...(admit !== undefined && { interceptors: [admission(admit)] }),
  })
  const verified: Verify = (metadata, method) => verify(apiKeyIn(metadata), method, authorizationIn(metadata))
  addServices(server, services, verified, { logger })
  const health = addHealth(
    server,
    services.map(({ service }) => service),
  )
  // grpc-js itself can't listen on a socket that it has not opened.
  const injector = server.createConnectionInjector(credentialsOf(tls))
  const listener = createServer({ noDelay: true }, (socket: Socket) => {
    if (admitConnection !== undefined) {
      const leave = admitConnection(socket.remoteAddress ?? '')
      if (leave === undefined) return void socket.destroy()
      socket.once('close', leave)
    }
    return injector.injectConnection(socket)
  })
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(options.listen, () => {
      listener.off('error', reject)
      resolve()
    })
  })
  const address = listener.address()
  let closing: Promise<void> | undefined
  return {
    port: address !== null && typeof address === 'object' ? address.port : 0,
    close: (graceMs) => (closing ??= shutDown(graceMs)),
  }

  async function shutDown(graceMs: number): Promise<void> {
    health.drain()
    const closed = new Promise((resolve) => listener.close(resolve))
    injector.drain(graceMs)
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, graceMs).unref())])
    server.forceShutdown()
  }
}

function credentialsOf(tls: KeyedServeOptions['tls']): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure()
  return ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }])
}

/** Nothing of a call is read before its metadata go on from here. */
function admission(admit: (apiKey: string) => Promise<void>): ServerInterceptor {
  return (_, call) => {
    const onReceiveMetadata: ServerListener['onReceiveMetadata'] = (metadata, next) => {
      admit(apiKeyIn(metadata)).then(
        () => next(metadata),
        (thrown: unknown) => call.sendStatus(endOf(asFailure(thrown))),
      )
    }
    return new ServerInterceptingCall(call, { start: (next) => next({ onReceiveMetadata }) })
  }
}

function endOf(failure: Failure) {
  const { code = status.INTERNAL, details = '', metadata } = statusFromFailure(failure)
  return { code, details, metadata: metadata ?? null }
}

export interface KeyedServer {
  /** 0 for a socket that has none. */
  port: number
  /** No new calls; those in progress may end within `graceMs`, then they are cut. */
  close(graceMs: number): Promise<void>
}
