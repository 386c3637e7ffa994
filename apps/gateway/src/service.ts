import { randomUUID } from 'node:crypto'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { TokenService } from '@automation/contract/catalog/v1/token'
import { asService, ownContext } from '@automation/rpc'
import { TeamLimitRows, type Check, type Part, type PartContext } from '@automation/service'
import { CallLimits } from './auth/call-limits.ts'
import { SigningKeys } from './auth/signing-keys.ts'
import { TeamAddresses } from './auth/team-addresses.ts'
import { TokenVerifier } from './auth/token-verifier.ts'
import type { GatewayConfig } from './config.ts'
import { ConsolePort } from './console/console-port.ts'
import { FormFrames } from './forms/form-frames.ts'
import { Forms } from './forms/open-form.ts'
import { BodyBudget } from './http/body-budget.ts'
import { clientAddress, proxies } from './http/caller.ts'
import { ConnectionLimits } from './http/connection-limits.ts'
import { HttpServer } from './http/server.ts'
import { UntakenAnswers } from './http/untaken-answers.ts'
import { listener } from './listener.ts'
import { observer, showHeld } from './observe.ts'
import { sandboxFileMaxBytes } from './resources/sandboxes/file-routes.ts'
import { uploadMaxBytesOf } from './resources/storage/upload-body.ts'
import { restApp } from './rest-app.ts'
import { restEntry } from './rest-entry.ts'
import { RunnerPort } from './runners/runner-port.ts'
import { SandboxPorts } from './sandbox-ports/sandbox-ports.ts'
import { UserCalls } from './sandbox-ports/user-calls.ts'
import { OpenStreams } from './streams/open-streams.ts'
import { TeamChanges } from './streams/team-changes.ts'
import { isTerminal, TerminalEntry } from './terminals/terminal-entry.ts'
import { WebhookEntry } from './webhooks/webhook-entry.ts'

export { readGatewayConfig, type GatewayConfig } from './config.ts'

/** How long a connection may stay silent beyond the longest wait of a call. */
const IDLE_MARGIN_MS = 60_000

/** Streams of runners end by being cut: they open others at once, and go on. */
const runnersGraceMs = 500

const SELF = asService('gateway')

export interface GatewayPart extends Part {
  /** The port that it listens on, once started. */
  port(): number
  /** The ports that it listens on for sandboxes, once started. */
  sandboxPorts(): { publicPort: number; grpcPort: number }
  /** Where people are at home, once started; undefined where there is no console. */
  consoleUrl(): string | undefined
  /** The port that it listens on for the console, once started. */
  consolePort(): number
  /** The port that it listens on for runners of other networks, once started; 0 where it has none. */
  runnersPort(): number
}

/**
 * The gateway: the one part that is reached from outside. Verifies tokens, routes, validates JSON and renders what the
 * other parts answer. Listens on PORT from `start` on.
 */
export function createGateway(config: GatewayConfig, context: PartContext): GatewayPart {
  const { neighbours, logger, metrics } = context
  let port = 0
  let state: 'new' | 'listening' | 'stopping' = 'new'

  const access = knownAccess(config, context)
  const { limitRows, verifier, gateways, callsPerSecond, calls, teamAddresses } = access
  const ready = async (): Promise<Check[]> => [
    { name: 'gateway', ok: state === 'listening', detail: state },
    { name: 'signing-keys', ok: access.keys.loaded },
    { name: 'team-limits', ok: limitRows.isKnown },
  ]
  const readiness = async () => (state === 'stopping' || !context.readiness ? ready() : context.readiness())

  const observed = observer(context)
  const { failed: report, ended } = observed
  const addresses = clientAddress(config.trustedProxies)
  const budget = new BodyBudget(config.bodiesMaxBytes, addresses)
  const shared = { config, neighbours, logger, report, clientAddress: addresses, budget, calls, teamAddresses }
  const webhooks = new WebhookEntry(shared)
  const streams = new OpenStreams(config, metrics)
  const teamChanges = new TeamChanges(neighbours, config.callTimeoutMs, logger)
  const sandboxPorts = new SandboxPorts({ ...shared, observer: observed, metrics })
  const runnerPort =
    config.runners &&
    new RunnerPort({
      ...{ neighbours, logger, callTimeoutMs: config.callTimeoutMs, listener: config.runners },
      isProxy: proxies(config.trustedProxies),
    })
  let runnersPort: number | undefined
  const sandboxAddresses = () => sandboxPorts.addresses()
  const userCalls = new UserCalls(neighbours, config.callTimeoutMs)
  const forms = new Forms(neighbours, teamAddresses, gateways)
  const app = restApp({
    ...shared,
    webhooks,
    forms,
    callsPerSecond,
    gateways,
    sandboxAddresses,
    userCalls,
    streams,
    teamChanges,
    verifier,
    keys: access.keys,
    readiness,
  })
  const terminals = new TerminalEntry({ ...shared, verifier, streams, userCalls })
  const rest = restEntry(app)
  const idleTimeoutMs = config.syncWaitMaxMs + IDLE_MARGIN_MS
  const bodyMaxBytes = (target: string) =>
    uploadMaxBytesOf(target, config) ?? sandboxFileMaxBytes(target) ?? config.bodyMaxBytes
  // Uploads take as long as they go on; those who read other bodies have a limit of their own.
  const connections = new ConnectionLimits({
    max: config.maxConnections,
    maxOfAddress: config.addressMaxConnections,
    isProxy: proxies(config.trustedProxies),
  })
  showHeld(metrics, { bodyBytes: () => budget.heldBytes, connections: () => connections.open })
  const listening = {
    bodyMaxBytes,
    budget,
    untaken: new UntakenAnswers(config.bodiesMaxBytes),
    connections,
    requestTimeoutMs: 0,
    idleTimeoutMs,
    upgrades: isTerminal,
    ended,
  }
  const consolePort =
    config.console &&
    new ConsolePort({
      ...shared,
      listener: config.console,
      rest,
      terminals,
      formFrames: new FormFrames({ ...shared, forms }),
      observer: observed,
      server: listening,
    })
  const consoleUrl = () => consolePort?.url
  const server = new HttpServer({
    ...listening,
    handle: listener({ config, rest, webhooks, observer: observed, consoleUrl }),
    upgrade: (exchange, socket, head) => terminals.upgrade(exchange, socket, head),
  })

  return {
    name: 'gateway',
    serves: [],
    async start() {
      access.start()
      teamChanges.start()
      // Where all are taken, as by a second start, the first is told.
      ;[port, runnersPort] = await Promise.all([
        server.listen(config.port, config.host),
        runnerPort?.listen(config.host),
        sandboxPorts.listen(),
        consolePort?.listen(config.host),
      ])
      state = 'listening'
      const { publicPort, grpcPort } = sandboxPorts.ports
      const ports = { port, publicPort, grpcPort, runnersPort }
      logger.info({ ...ports, url: config.publicUrl, console: consoleUrl() }, 'gateway listens')
    },
    async stop(graceMs) {
      state = 'stopping'
      streams.close()
      await Promise.all([server.stop(graceMs), sandboxPorts.stop(graceMs), consolePort?.stop(graceMs)])
      await runnerPort?.stop(runnersGraceMs)
      userCalls.close()
      await Promise.all([access.stop(), teamChanges.stop()])
    },
    ready,
    port: () => port,
    sandboxPorts: () => sandboxPorts.ports,
    consoleUrl,
    consolePort: () => consolePort?.port ?? 0,
    runnersPort: () => runnersPort ?? 0,
  }
}

/** Who may call, from where and how much: what the catalog says of it, renewed every few seconds from `start` on. */
function knownAccess(config: GatewayConfig, { neighbours, logger }: PartContext) {
  const tokens = neighbours.client(TokenService)
  const readKeys = async () => (await tokens.listSigningKeys({}, ownContext(SELF, config.callTimeoutMs))).jwks
  const keys = new SigningKeys(readKeys, logger)
  const gateway = randomUUID()
  let gateways = 1
  const teams = neighbours.client(TeamLimitService)
  const limitRows = new TeamLimitRows(logger, async (knownRevision) => {
    const answer = await teams.listTeamLimits({ knownRevision, gateway }, ownContext(SELF, config.callTimeoutMs))
    gateways = Math.max(answer.gateways, 1)
    if (answer.revision !== knownRevision && limitRows.isKnown) {
      await keys.renew()
      verifier.forget()
    }
    return answer
  })
  const verifier = new TokenVerifier(config.publicUrl, keys.find, config.external, { ended: limitRows, logger })
  const callsPerSecond = (team: string) => limitRows.find(team, 'callsPerSecond') ?? config.teamCallsPerSecond
  const calls = new CallLimits(callsPerSecond, () => gateways)
  const teamAddresses = new TeamAddresses(limitRows)

  return {
    keys,
    limitRows,
    verifier,
    gateways: () => gateways,
    callsPerSecond,
    calls,
    teamAddresses,
    start() {
      keys.start()
      void limitRows.start()
    },
    async stop() {
      keys.stop()
      await limitRows.stop()
    },
  }
}
