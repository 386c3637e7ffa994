import type { KeyedServer } from '@automation/rpc/keyed-server'
import type { Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'
import type { RunnerListener } from '../config.ts'
import { ConnectionLimits } from '../http/connection-limits.ts'
import { passedOn } from './passed-on.ts'
import { PoolGate } from './pool-gate.ts'

/** Connections beyond are refused; a runner has about five, and many may be behind one address. */
const connectionBounds = { max: 4000, maxOfAddress: 1000 }
const keepaliveMs = 20_000
const idleMs = 300_000

interface RunnerPortOptions {
  neighbours: Neighbours
  listener: RunnerListener
  callTimeoutMs: number
  /** Whether many clients come from an address. */
  isProxy: (address: string) => boolean
  logger: Logger
}

/**
 * The listener for runners of other networks, which come with the token of a pool. It passes on what such a runner may
 * call, with the token that the runner or its run has brought: the gateway has no right of its own to any of it.
 */
export class RunnerPort {
  readonly #options: RunnerPortOptions
  #server: KeyedServer | undefined

  constructor(options: RunnerPortOptions) {
    this.#options = options
  }

  /** Resolves with the port that it listens on. */
  async listen(host: string | undefined): Promise<number> {
    const { neighbours, listener, callTimeoutMs, isProxy, logger } = this.#options
    const connections = new ConnectionLimits({ ...connectionBounds, isProxy })
    // Only here, so that a system in one process that has no such listener never loads gRPC.
    const { serveKeyed } = await import('@automation/rpc/keyed-server')
    const gate = new PoolGate(neighbours, callTimeoutMs)
    this.#server = await serveKeyed(passedOn(neighbours), {
      listen: { host, port: listener.port },
      tls: listener.tls,
      admit: (poolToken) => gate.admit(poolToken),
      verify: (poolToken, method, authorization) => gate.principalOf(poolToken, method, authorization),
      maxMessageBytes: listener.maxMessageBytes,
      maxReceivedBytes: listener.maxReceivedBytes,
      admitConnection: (address) => connections.admit(address),
      ...{ keepaliveMs, idleMs, logger },
    })
    return this.#server.port
  }

  /** No new calls; those in progress may end within `graceMs`, then they are cut. */
  async stop(graceMs: number): Promise<void> {
    await this.#server?.close(graceMs)
  }
}
