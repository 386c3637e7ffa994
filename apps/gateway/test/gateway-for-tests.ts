import { Environment } from '@automation/service'
import { testContext } from '@automation/testing'
import type { GatewayConfig } from '../src/config.ts'
import { createGateway, readGatewayConfig, type GatewayPart } from '../src/service.ts'
import { ContractServers, ISSUER } from './contract-servers.ts'

/** A gateway on a free port, with neighbours that speak the contract. */
export interface GatewayForTests {
  servers: ContractServers
  gateway: GatewayPart
  base: string
  /** The origin of the console. */
  console: string
  /** What it tells on its health port. */
  metrics(): Promise<string>
  /** A request to a path; with a token of the team `demo` unless `authorization` is given. */
  request(method: string, path: string, options?: RequestOptions): Promise<Response>
  /** The same below `{base_url}`, with a value sent as JSON. */
  rest(method: string, path: string, body?: unknown): Promise<Response>
  stop(): Promise<void>
}

export interface RequestOptions {
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
}

export async function startGateway(
  settings: Record<string, string> = {},
  fixed: Partial<GatewayConfig> = {},
  prepare: (servers: ContractServers) => void = () => undefined,
): Promise<GatewayForTests> {
  const servers = await ContractServers.create()
  prepare(servers)
  const env = new Environment({ PORT: '0', HOST: '127.0.0.1', PUBLIC_URL: ISSUER, ...settings })
  const config = readGatewayConfig(env)
  env.check()
  const context = testContext(servers.network)
  const gateway = createGateway({ ...config, ...fixed }, context)
  await gateway.start()
  const base = `http://127.0.0.1:${gateway.port()}`
  const authorization = `Bearer ${await servers.token()}`
  const request = (method: string, path: string, options: RequestOptions = {}) =>
    fetch(`${base}${path}`, {
      method,
      headers: { authorization, ...options.headers },
      body: options.body,
      redirect: 'manual',
    })
  const rest = (method: string, path: string, body?: unknown) =>
    request(method, `/api/demo/rest${path}`, {
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const metrics = () => context.metrics.metrics()
  const console = gateway.consoleUrl() ?? ''
  return { servers, gateway, base, console, metrics, request, rest, stop: () => gateway.stop(1000) }
}

export interface ProblemBody {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  message: string
  code: string
  requestId: string
  errors?: { path: string; message: string }[]
  executionId?: string
  error?: { name: string; message: string; line?: number }
}

export async function problemOf(response: Response): Promise<ProblemBody> {
  return (await response.json()) as ProblemBody
}
