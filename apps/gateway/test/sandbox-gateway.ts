import { SandboxRouteService, type SandboxRouteSchema } from '@automation/contract/sandbox/v1/sandbox'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { Failure, notFound } from '@automation/errors'
import { InProcessNetwork, served } from '@automation/rpc'
import { connectSandbox, type Sandbox } from '@automation/client/sandbox'
import { Environment } from '@automation/service'
import { testContext } from '@automation/testing'
import { apiKey, daemonKey, startDaemonProcess, type DaemonProcess } from '@automation/testing/daemon-process'
import type { SandboxListeners } from '../src/config.ts'
import { createGateway, readGatewayConfig, type GatewayPart } from '../src/service.ts'

export const sandboxId = '01890000-0000-7000-8000-00000000005a'

type Route = MessageInitShape<typeof SandboxRouteSchema>

/** A gateway with a sandbox behind it: a daemon as a process, and whoever tells the routes. */
export interface SandboxGateway {
  daemon: DaemonProcess
  gateway: GatewayPart
  /** What the route service answers with; undefined for a sandbox that is no more. */
  route: Route | undefined
  publicPorts: Set<number>
  /** While it is PENDING. */
  starting: boolean
  /** `http://127.0.0.1:port`, of the public ports. */
  publicBase: string
  /** What the gateway tells of its traffic to sandboxes: `kind outcome` or `kind open`, and how many. */
  traffic(): Promise<Record<string, number>>
  /** A client through the gateway. */
  connect(key?: string, more?: { origin?: string; certificateAuthorities?: string }): Sandbox
  stop(): Promise<void>
}

export async function startSandboxGateway(
  settings: Record<string, string> = {},
  fixed: Partial<SandboxListeners> = {},
): Promise<SandboxGateway> {
  const daemon = await startDaemonProcess()
  const network = new InProcessNetwork()
  const env = new Environment({ PORT: '0', HOST: '127.0.0.1', PUBLIC_URL: 'http://127.0.0.1:1', ...settings })
  const read = readGatewayConfig(env)
  const config = { ...read, sandboxes: { ...read.sandboxes, ...fixed } }
  env.check()
  const context = testContext(network)
  const gateway = createGateway(config, context)
  await gateway.start()
  const { publicPort, grpcPort } = gateway.sandboxPorts()
  const clients: Sandbox[] = []
  const system: SandboxGateway = {
    daemon,
    gateway,
    route: { sandboxId, team: 'demo', daemonAddress: daemon.address, daemonKey },
    publicPorts: new Set(),
    starting: false,
    publicBase: `http://127.0.0.1:${publicPort}`,
    traffic: async () => {
      const text = await context.metrics.metrics()
      const lines = text.matchAll(/^gateway_sandbox_traffic_\w+\{kind="(\w+)"(?:,outcome="(\w+)")?\} (\d+)$/gm)
      return Object.fromEntries(
        [...lines].map(([, kind, outcome = 'open', count]) => [`${kind} ${outcome}`, Number(count)]),
      )
    },
    connect: (key = apiKey, { origin = 'http://127.0.0.1', ...options } = {}) => {
      const access = { grpcServerUrl: `${origin}:${grpcPort}`, grpcApiKey: key }
      const client = connectSandbox(access, options)
      clients.push(client)
      return client
    },
    stop: async () => {
      for (const client of clients) client.close()
      await gateway.stop(1000)
      await daemon.stop()
    },
  }
  network.add([
    served(SandboxRouteService, {
      resolvePort: ({ sandboxId: id, port }) => {
        if (system.route === undefined || id !== sandboxId || !system.publicPorts.has(port)) throw notFound('sandbox')
        if (system.starting)
          throw new Failure('unavailable', 'sandbox_starting', 'The sandbox is starting', { retryAfterS: 1 })
        return system.route
      },
      resolveKey: ({ grpcApiKey }) => {
        if (system.route === undefined || grpcApiKey !== apiKey)
          throw new Failure('unauthenticated', 'sandbox_key', 'There is no such sandbox that runs')
        return system.route
      },
    }),
  ])
  return system
}
