import type { DescService } from '@bufbuild/protobuf'
import { Client as Channel, credentials, type ChannelCredentials, type ChannelOptions } from '@grpc/grpc-js'
import { channelOptions } from './channel-options.ts'
import type { CallContext } from './context.ts'
import { healthDefinition, isServing } from './health.ts'
import { apiKeyMetadata } from './metadata.ts'
import { verifyPeer } from './peer-name.ts'
import type { Client } from './service-types.ts'
import { failureFromError } from './status.ts'
import { wireClient } from './wire-client.ts'

interface Trust {
  /** PEM of the authorities that are trusted; those of Node when absent. */
  authorities?: string
}

interface KeyedChannelOptions {
  /** `host:port` or `unix:/path`. */
  address: string
  /** Without it there is no TLS. */
  tls?: Trust
  /** Brought as `x-api-key` by every call. */
  apiKey: string
  maxMessageBytes: number
  /** Of what it sends, where that is to be less. */
  maxReceivedBytes?: number
  /** A peer that answers nothing for twice as long is taken for gone. */
  keepaliveMs: number
  /** How much of a stream may wait for its reader; 256 KiB. */
  waitingBytes?: number
}

/** A connection to a server that asks for a key; made at the first call, and again whenever it breaks. */
export interface KeyedChannel {
  client<S extends DescService>(service: S): Client<S>
  /** Whether the server says that it serves; throws a Failure when it can't be asked. */
  isServing(timeoutMs: number): Promise<boolean>
  close(): void
}

/** A channel to a server that knows its callers by a key. */
export function keyedChannel(options: KeyedChannelOptions): KeyedChannel {
  const peer = peerCredentials(options.address, options.tls)
  const channel = new Channel(options.address, peer.credentials, {
    ...peer.options,
    ...channelOptions(options.maxMessageBytes, options.keepaliveMs),
    'grpc.max_receive_message_length': options.maxReceivedBytes ?? options.maxMessageBytes,
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 1000,
    'grpc.use_local_subchannel_pool': 1,
  })
  const metadata = (context?: CallContext) => apiKeyMetadata(options.apiKey, context?.principal)
  const { path, requestSerialize, responseDeserialize } = healthDefinition.check
  return {
    client: (service) => wireClient(service, { channel: () => channel, metadata, waitingBytes: options.waitingBytes }),
    isServing: (timeoutMs) =>
      new Promise((resolve, reject) => {
        const deadline = Date.now() + timeoutMs
        channel.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          {},
          metadata(),
          { deadline },
          (error, status) => {
            if (error === null) resolve(isServing(status))
            else reject(failureFromError(error))
          },
        )
      }),
    close: () => channel.close(),
  }
}

/** What a channel to `host:port` is made with: TLS where `trust` is given, and the host is what its certificate must name. */
function peerCredentials(
  address: string,
  trust: Trust | undefined,
): { credentials: ChannelCredentials; options: ChannelOptions } {
  if (trust === undefined) return { credentials: credentials.createInsecure(), options: {} }
  const roots = trust.authorities === undefined ? null : Buffer.from(trust.authorities)
  const { verify, options } = verifyPeer(address)
  return { credentials: credentials.createSsl(roots, null, null, verify), options }
}
