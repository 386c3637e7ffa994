import type { DescService } from '@bufbuild/protobuf'
import type { Neighbours } from './in-process.ts'
import { keyedChannel, type KeyedChannel } from './keyed-client.ts'
import type { Client } from './service-types.ts'

interface OutsideOptions {
  /** Of the gateway: http or https, a host, and the port where it is not the usual one. */
  url: URL
  /** Brought by every call; those of runs bring their own token, too. */
  poolToken: string
  maxMessageBytes: number
}

/** Longer than within a network, as much may be on the way. */
const keepaliveMs = 10_000

/**
 * Neighbours that are behind a gateway, of a runner in another network: whatever replica is meant, one address is called,
 * and all connections go out from here.
 */
export class OutsideNetwork implements Neighbours {
  readonly #options: OutsideOptions
  readonly #address: string
  readonly #channels = new Map<string, KeyedChannel>()

  constructor(options: OutsideOptions) {
    this.#options = options
    const { hostname, port, protocol } = options.url
    this.#address = `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
  }

  client<S extends DescService>(service: S, connection = ''): Client<S> {
    let channel = this.#channels.get(connection)
    if (channel === undefined) this.#channels.set(connection, (channel = this.#open()))
    return channel.client(service)
  }

  inCells<S extends DescService>(service: S): ReadonlyMap<string, Client<S>> {
    return new Map([['', this.client(service)]])
  }

  replicas(): readonly string[] {
    return [this.#address]
  }

  at<S extends DescService>(service: S, _address: string, connection?: string): Client<S> {
    return this.client(service, connection)
  }

  close(): void {
    for (const channel of this.#channels.values()) channel.close()
    this.#channels.clear()
  }

  #open(): KeyedChannel {
    const { url, poolToken, maxMessageBytes } = this.#options
    return keyedChannel({
      address: this.#address,
      ...(url.protocol === 'https:' && { tls: {} }),
      ...{ apiKey: poolToken, maxMessageBytes, keepaliveMs },
    })
  }
}
