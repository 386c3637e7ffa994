import type { DescService } from '@bufbuild/protobuf'
import { Failure } from '@automation/errors'
import { Client as Channel, connectivityState, credentials, type ChannelOptions, type Metadata } from '@grpc/grpc-js'
import { channelOptions } from './channel-options.ts'
import type { CallContext } from './context.ts'
import { signer, type SigningKey } from './credentials.ts'
import { metadataOf } from './metadata.ts'
import type { Neighbours } from './neighbours.ts'
import type { Client } from './service-types.ts'
import { wireClient } from './wire-client.ts'

export interface WireOptions {
  /** Addresses (host:port) of the replicas of a service, by its full name or by the area in it: `automation.<area>.v1.…`. */
  addresses: Record<string, string[]>
  key: SigningKey
  maxMessageBytes: number
  /** A peer that answers nothing for twice as long is taken for gone; 4,000. */
  keepaliveMs?: number
}

/**
 * Neighbours over gRPC. Connections are made at the first call, and again whenever they break. A client of several
 * replicas takes them in turn and leaves out those that can't be reached.
 */
export class WireNetwork implements Neighbours {
  readonly #options: WireOptions
  readonly #channelOptions: ChannelOptions
  readonly #sign: ReturnType<typeof signer>
  readonly #channels = new Map<string, Channel>()
  #turn = 0

  constructor(options: WireOptions) {
    this.#options = options
    this.#sign = signer(options.key)
    this.#channelOptions = {
      ...channelOptions(options.maxMessageBytes, options.keepaliveMs),
      // A peer that starts after us is found at once.
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1000,
      // A name with several addresses is several replicas.
      'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
      // Else channels to the same address share one connection, named or not.
      'grpc.use_local_subchannel_pool': 1,
    }
  }

  client<S extends DescService>(service: S, connection = ''): Client<S> {
    const addresses = this.#addressesOf(service)
    return wireClient(service, { channel: () => this.#next(addresses, connection), metadata: this.#metadata })
  }

  replicas<S extends DescService>(service: S, connection = ''): Client<S>[] {
    return this.#addressesOf(service).map((address) => this.at(service, address, connection))
  }

  at<S extends DescService>(service: S, address: string, connection = ''): Client<S> {
    return wireClient(service, { channel: () => this.#channel(address, connection), metadata: this.#metadata })
  }

  readonly #metadata = (context: CallContext): Metadata | Promise<Metadata> => {
    const signed = this.#sign(context.principal)
    return typeof signed === 'string'
      ? metadataOf(signed, context)
      : signed.then((authorization) => metadataOf(authorization, context))
  }

  close(): void {
    for (const channel of this.#channels.values()) channel.close()
    this.#channels.clear()
  }

  #addressesOf(service: DescService): string[] {
    const { addresses } = this.#options
    const found = addresses[service.typeName] ?? addresses[service.typeName.split('.')[1] ?? '']
    if (found !== undefined && found.length > 0) return found
    throw new Failure('unimplemented', 'service_absent', 'This service is not part of the system', {
      cause: service.typeName,
    })
  }

  #next(addresses: string[], connection: string): Channel {
    const channels = addresses.map((address) => this.#channel(address, connection))
    if (channels.length === 1) return channels[0]!
    const turn = this.#turn++
    const inTurn = channels.map((_, index) => channels[(turn + index) % channels.length]!)
    return inTurn.find((channel) => stateOf(channel) !== connectivityState.TRANSIENT_FAILURE) ?? inTurn[0]!
  }

  #channel(address: string, connection: string): Channel {
    const name = `${connection}@${address}`
    let channel = this.#channels.get(name)
    if (channel === undefined) {
      channel = new Channel(address, credentials.createInsecure(), this.#channelOptions)
      this.#channels.set(name, channel)
    }
    return channel
  }
}

function stateOf(channel: Channel): connectivityState {
  return channel.getChannel().getConnectivityState(true)
}
