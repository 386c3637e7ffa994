import { TokenService } from '@automation/contract/catalog/v1/token'
import { asService, ownContext } from '@automation/rpc'
import type { Check, Part, PartContext } from '@automation/service'
import { SigningKeys } from './auth/signing-keys.ts'
import { TokenVerifier } from './auth/token-verifier.ts'
import type { GatewayConfig } from './config.ts'
import { BodyBudget } from './http/body-budget.ts'
import { clientAddress, proxies } from './http/client-address.ts'
import { ConnectionLimits } from './http/connection-limits.ts'
import type { Exchange } from './http/exchange.ts'
import { HttpServer } from './http/server.ts'
import { listener } from './listener.ts'
import { observer, requestSpans, showHeld } from './observe.ts'
import { isUpload } from './resources/storage/upload-body.ts'
import { restApp } from './rest-app.ts'
import { SandboxPorts } from './sandbox-ports/sandbox-ports.ts'
import { OpenStreams } from './streams/open-streams.ts'
import { WebhookEntry } from './webhooks/webhook-entry.ts'

export { readGatewayConfig, type GatewayConfig } from './config.ts'

/** How long a connection may stay silent beyond the longest wait of a call. */
const IDLE_MARGIN_MS = 60_000

const SELF = asService('gateway')

export interface GatewayPart extends Part {
  /** The port that it listens on, once started. */
  port(): number
  /** The ports that it listens on for sandboxes, once started. */
  sandboxPorts(): { publicPort: number; grpcPort: number }
}

/**
 * The gateway: the one part that is reached from outside. Verifies tokens, routes, validates JSON and renders what the
 * other parts answer. Listens on PORT from `start` on.
 */
export function createGateway(config: GatewayConfig, context: PartContext): GatewayPart {
  const { neighbours, logger, metrics } = context
  let port = 0
  let state: 'new' | 'listening' | 'stopping' = 'new'

  const tokens = neighbours.client(TokenService)
  const readKeys = async () => (await tokens.listSigningKeys({}, ownContext(SELF, config.callTimeoutMs))).jwks
  const keys = new SigningKeys(readKeys, logger)
  const ready = async (): Promise<Check[]> => [
    { name: 'gateway', ok: state === 'listening', detail: state },
    { name: 'signing-keys', ok: keys.loaded },
  ]
  const readiness = async () => (state === 'stopping' || !context.readiness ? ready() : context.readiness())

  const observed = observer(logger, metrics)
  const spans = requestSpans(context.tracer)
  const { failed: report } = observed
  const ended = (exchange: Exchange) => {
    budget.release(exchange)
    observed.ended(exchange)
    spans?.ended(exchange)
  }
  const addresses = clientAddress(config.trustedProxies)
  const budget = new BodyBudget(config.bodiesMaxBytes, addresses)
  const shared = { config, neighbours, logger, report, clientAddress: addresses, budget }
  const webhooks = new WebhookEntry(shared)
  const verifier = new TokenVerifier(config.publicUrl, keys.find, config.external)
  const streams = new OpenStreams(config, metrics)
  const sandboxPorts = new SandboxPorts({ ...shared, observer: observed, metrics })
  const sandboxAddresses = () => sandboxPorts.addresses()
  const app = restApp({ ...shared, sandboxAddresses, streams, verifier, keys, readiness })
  const answer = listener({ config, app, webhooks, report })
  const handle = (exchange: Exchange) => {
    spans?.began(exchange)
    answer(exchange)
  }
  const idleTimeoutMs = config.syncWaitMaxMs + IDLE_MARGIN_MS
  const bodyMaxBytes = (target: string) => (isUpload(target) ? config.uploadMaxBytes : config.bodyMaxBytes)
  // Uploads take as long as they go on; those who read other bodies have a limit of their own.
  const connections = new ConnectionLimits({
    max: config.maxConnections,
    maxOfAddress: config.addressMaxConnections,
    isProxy: proxies(config.trustedProxies),
  })
  showHeld(metrics, { bodyBytes: () => budget.heldBytes, connections: () => connections.open })
  const server = new HttpServer({ bodyMaxBytes, connections, requestTimeoutMs: 0, idleTimeoutMs, handle, ended })

  return {
    name: 'gateway',
    serves: [],
    async start() {
      keys.start()
      // Where all are taken, as by a second start, the first is told.
      ;[port] = await Promise.all([server.listen(config.port, config.host), sandboxPorts.listen()])
      state = 'listening'
      const { publicPort, grpcPort } = sandboxPorts.ports
      logger.info({ port, url: config.publicUrl, publicPort, grpcPort }, 'gateway listens')
    },
    async stop(graceMs) {
      state = 'stopping'
      streams.close()
      await Promise.all([server.stop(graceMs), sandboxPorts.stop(graceMs)])
      keys.stop()
    },
    ready,
    port: () => port,
    sandboxPorts: () => sandboxPorts.ports,
  }
}
