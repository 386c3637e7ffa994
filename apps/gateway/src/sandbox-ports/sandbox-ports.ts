import { asService, type Client, type Neighbours, ownContext } from '@automation/rpc'
import type { Logger, Registry } from '@automation/service'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { isPassing } from '@automation/errors'
import type { GatewayConfig } from '../config.ts'
import { proxies, type ClientAddress } from '../http/caller.ts'
import { ConnectionLimits } from '../http/connection-limits.ts'
import type { Observer } from '../observe.ts'
import { sandboxAddresses, type SandboxAddresses } from './addresses.ts'
import { GrpcPort } from './grpc-port.ts'
import { PublicPorts } from './public-ports.ts'
import { Traffic } from './traffic.ts'

/** How long a connection may stay silent beyond the longest wait for an answer. */
const idleMarginMs = 30_000

/** The most that a stop waits for what sandboxes still send: streams of theirs may go on for ever. */
const graceMostMs = 1000

interface SandboxPortsDependencies {
  config: GatewayConfig
  neighbours: Neighbours
  logger: Logger
  observer: Observer
  metrics: Registry
  clientAddress: ClientAddress
}

/** The two listeners for sandboxes, apart from the gateway's own origin. */
export class SandboxPorts {
  readonly #config: GatewayConfig
  readonly #grpc: GrpcPort
  readonly #public: PublicPorts
  readonly #sharedOrigin: SharedOriginWarning | undefined
  #ports: { publicPort: number; grpcPort: number }

  constructor({ config, neighbours, logger, observer, metrics, clientAddress }: SandboxPortsDependencies) {
    const { callTimeoutMs, sandboxes } = config
    this.#config = config
    this.#ports = sandboxes
    if (sandboxes.publicDomain === undefined)
      this.#sharedOrigin = new SharedOriginWarning({ neighbours, logger }, callTimeoutMs)
    const traffic = new Traffic(metrics)
    const isProxy = proxies(config.trustedProxies)
    this.#grpc = new GrpcPort({ neighbours, callTimeoutMs, logger, traffic, tls: sandboxes.grpcTls, isProxy })
    this.#public = new PublicPorts({
      neighbours,
      clientAddress,
      isBelieved: (address) => config.trustedProxies.length > 0 && isProxy(address),
      domain: sandboxes.publicDomain,
      // Each connection has another one to a sandbox.
      connections: new ConnectionLimits({
        max: Math.ceil(config.maxConnections / 2),
        maxOfAddress: Math.ceil(config.addressMaxConnections / 2),
        isProxy,
      }),
      callTimeoutMs,
      answerTimeoutMs: sandboxes.answerTimeoutMs,
      idleTimeoutMs: sandboxes.answerTimeoutMs + idleMarginMs,
      report: observer.failed,
      ended: observer.ended,
      traffic,
    })
  }

  async listen(): Promise<void> {
    const { sandboxes, host } = this.#config
    this.#ports = {
      publicPort: await this.#public.listen(sandboxes.publicPort, host),
      grpcPort: await this.#grpc.listen(sandboxes.grpcPort, host),
    }
    void this.#sharedOrigin?.start()
  }

  /** Those that it listens on, once it does. */
  get ports(): { publicPort: number; grpcPort: number } {
    const { publicPort, grpcPort } = this.#ports
    return { publicPort, grpcPort }
  }

  /** As they are told to users; with the ports that it really listens on, once it does. */
  addresses(): SandboxAddresses {
    const { publicUrl: gatewayUrl, sandboxes } = this.#config
    const grpcIsTls = sandboxes.grpcTls !== undefined
    return sandboxAddresses({ ...sandboxes, grpcIsTls, gatewayUrl, ...this.ports })
  }

  async stop(graceMs: number): Promise<void> {
    this.#sharedOrigin?.stop()
    const grace = Math.min(graceMs, graceMostMs)
    await Promise.all([this.#grpc.stop(grace), this.#public.stop(grace)])
  }
}

const self = asService('gateway')
const againMs = 1000

/** Says at the start where teams that are strangers to each other get pages of one origin for their sandboxes. */
class SharedOriginWarning {
  readonly #teams: Client<typeof TeamService>
  readonly #logger: Logger
  readonly #callTimeoutMs: number
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor({ neighbours, logger }: { neighbours: Neighbours; logger: Logger }, callTimeoutMs: number) {
    this.#teams = neighbours.client(TeamService)
    this.#logger = logger
    this.#callTimeoutMs = callTimeoutMs
  }

  /** Asks until the catalog answers: it may start later than the gateway. */
  async start(): Promise<void> {
    try {
      const { count } = await this.#teams.countTeams({}, ownContext(self, this.#callTimeoutMs))
      if (count > 1) this.#warn(count)
    } catch (error) {
      if (!isPassing(error))
        this.#logger.warn({ err: error }, 'it is not known whether several teams share the origin of sandboxes')
      else if (!this.#stopped) this.#timer = setTimeout(() => void this.start(), againMs).unref()
    }
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #warn(teams: number): void {
    this.#logger.warn(
      { teams },
      'several teams share one origin for the public ports of their sandboxes: pages of one can read those of another; set SANDBOX_PUBLIC_DOMAIN, so that each has a host of its own',
    )
  }
}
