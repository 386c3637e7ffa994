export type { WireLogger } from './handling.ts'
import { createServer, type Socket } from 'node:net'
import type { DescMethod } from '@bufbuild/protobuf'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { addServices } from './handling.ts'
import { channelOptions } from './channel-options.ts'
import type { Principal } from './context.ts'
import type { WireLogger } from './handling.ts'
import { addHealth } from './health.ts'
import { apiKeyIn } from './metadata.ts'
import type { ServedService } from './service-types.ts'

/** Where to listen: a listening socket that is inherited, a Unix socket, or an address. */
export type Listen = { fd: number } | { path: string } | { host: string; port: number }

export interface KeyedServeOptions {
  listen: Listen
  /** Says who calls, by the `x-api-key` of a call (empty where it has none); throws for those who may not. */
  verify(apiKey: string, method: DescMethod): Principal
  maxMessageBytes: number
  /** A peer that answers nothing for twice as long is taken for gone. */
  keepaliveMs: number
  logger: WireLogger
}

/** Serves proto services to those who bring an `x-api-key`, and grpc.health.v1 to anybody. Quick to load. */
export async function serveKeyed(services: ServedService[], options: KeyedServeOptions): Promise<KeyedServer> {
  const { verify, logger } = options
  const server = new Server(channelOptions(options.maxMessageBytes, options.keepaliveMs))
  addServices(server, services, (metadata, method) => verify(apiKeyIn(metadata), method), { logger })
  const health = addHealth(
    server,
    services.map(({ service }) => service),
  )
  // grpc-js itself can't listen on a socket that it has not opened.
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure())
  const listener = createServer({ noDelay: true }, (socket: Socket) => injector.injectConnection(socket))
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

export interface KeyedServer {
  /** 0 for a socket that has none. */
  port: number
  /** No new calls; those in progress may end within `graceMs`, then they are cut. */
  close(graceMs: number): Promise<void>
}
