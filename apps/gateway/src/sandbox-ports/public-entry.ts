import type { Writable } from 'node:stream'
import { ControlService } from '@automation/contract/sandbox/v1/daemon'
import { SandboxRouteService, type SandboxRoute } from '@automation/contract/sandbox/v1/sandbox'
import { Failure, notFound } from '@automation/errors'
import { CredentialsGate } from '@automation/passwords'
import { asService, ownContext, type Client, type Neighbours } from '@automation/rpc'
import { basicCredentials, type ClientAddress, forwardedProtocol } from '../http/caller.ts'
import type { Exchange } from '../http/exchange.ts'
import { DaemonChannels } from './daemon-channels.ts'
import { OwnCookies } from './own-cookies.ts'
import type { Forwarded } from './passed-headers.ts'
import { openPort, type PortConnection } from './port-connection.ts'

const self = asService('gateway')

/** Connections to public ports. */
const most = { inAll: 4000, ofTeam: 1000, ofSandbox: 1000 }

export interface PublicEntryOptions {
  neighbours: Neighbours
  clientAddress: ClientAddress
  /** Whether who calls from this address is believed in what it says of the client. */
  isBelieved: (address: string) => boolean
  domain: string | undefined
  callTimeoutMs: number
}

/** A request that may pass: where to, and what is said of its client. */
export interface Admitted {
  target: PublicTarget
  route: SandboxRoute
  about: Forwarded
}

/** Who may reach which public port: finds the sandbox, asks for its credentials, and opens the connection. */
export class PublicEntry {
  readonly #options: PublicEntryOptions
  readonly #gate = new CredentialsGate(refused)
  readonly #channels = new DaemonChannels(most)
  #routes: Client<typeof SandboxRouteService> | undefined

  constructor(options: PublicEntryOptions) {
    this.#options = options
  }

  /**
   * Failures: sandbox_not_found, the same for what is unknown, has ended or is not public; sandbox_starting;
   * sandbox_credentials; too_many_attempts.
   */
  async admit({ incoming, path, query, requestId }: Exchange, upgrade: boolean): Promise<Admitted> {
    const { headers } = incoming
    const { neighbours, domain, callTimeoutMs, clientAddress, isBelieved } = this.#options
    const target = publicTarget({ path, query, host: headers.host ?? '' }, domain)
    if (target === undefined) throw notFound('sandbox')
    this.#routes ??= neighbours.client(SandboxRouteService)
    const { sandboxId, port, prefix } = target
    const route = await this.#routes.resolvePort({ sandboxId, port }, ownContext(self, callTimeoutMs)).catch(hidden)
    const address = clientAddress(incoming.socket.remoteAddress, headers['x-forwarded-for'])
    const { basicAuth, team } = route
    if (basicAuth !== undefined)
      await this.#gate.check({ id: sandboxId, team }, basicAuth, basicCredentials(headers.authorization) ?? {}, address)
    const protocol = forwardedProtocol(incoming, isBelieved(incoming.socket.remoteAddress ?? ''))
    const sharesOrigin = prefix !== ''
    const cookies = sharesOrigin ? new OwnCookies(sandboxId, prefix) : undefined
    const withoutAuthorization = basicAuth !== undefined || sharesOrigin
    const about = { address, protocol, prefix, requestId, withoutAuthorization, cookies, upgrade }
    return { target, route, about }
  }

  /** Failures: port_closed, sandbox_unreachable, port_timeout. */
  async open({ route, target }: Admitted, closeWith: Pick<Writable, 'destroyed' | 'once'>): Promise<PortConnection> {
    const { channel, release } = await this.#channels.use({ ...route, apiKey: route.daemonKey })
    try {
      const connection = await openPort(channel.client(ControlService), target.port, this.#options.callTimeoutMs)
      connection.once('close', release)
      if (closeWith.destroyed) connection.destroy()
      else closeWith.once('close', () => connection.destroy())
      return connection
    } catch (error) {
      release()
      throw unreachable(error)
    }
  }

  async close(): Promise<void> {
    this.#channels.close()
    await this.#gate.close()
  }
}

/** Nothing is told of sandboxes but whether this port is there; a system without sandboxes has none. */
function hidden(error: unknown): never {
  if (error instanceof Failure && (error.kind === 'invalid_argument' || error.code === 'service_absent'))
    throw notFound('sandbox')
  throw error
}

function unreachable(error: unknown): unknown {
  if (!(error instanceof Failure) || error.kind !== 'unavailable' || error.code === 'port_closed') return error
  return new Failure('unavailable', 'sandbox_unreachable', 'The sandbox does not answer', { cause: error })
}

function refused(): Failure {
  return new Failure('unauthenticated', 'sandbox_credentials', 'The sandbox wants a user name and a password')
}

/** What a request to a public port is for. */
interface PublicTarget {
  sandboxId: string
  port: number
  /** What of the path is not the application's own; empty for a host per sandbox. */
  prefix: string
  /** Path and query as the application sees them; undefined for an address that lacks the slash behind the port. */
  rest: string | undefined
}

const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const pathForm = new RegExp(`^/(${id})/([1-9]\\d{0,4})(/.*)?$`)
const hostForm = new RegExp(`^([1-9]\\d{0,4})-(${id})\\.(.+)$`)

/**
 * The sandbox and port that a request names: by its path, or where there is a domain by its host alone, so that no sandbox
 * shares an origin with another. Undefined for any other address.
 */
export function publicTarget(
  { path, query, host }: { path: string; query: string; host: string },
  domain: string | undefined,
): PublicTarget | undefined {
  const question = query === '' ? '' : `?${query}`
  if (domain !== undefined) {
    const [, port, sandboxId, below] = hostForm.exec(withoutPort(host.toLowerCase())) ?? []
    if (below !== withoutPort(domain.toLowerCase())) return undefined
    return checked({ sandboxId: sandboxId!, port: Number(port), prefix: '', rest: `${path}${question}` })
  }
  const [, sandboxId, port, rest] = pathForm.exec(path) ?? []
  if (sandboxId === undefined) return undefined
  const prefix = `/${sandboxId}/${port}`
  return checked({ sandboxId, port: Number(port), prefix, rest: rest === undefined ? undefined : `${rest}${question}` })
}

function checked(target: PublicTarget): PublicTarget | undefined {
  return target.port <= 65_535 ? target : undefined
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '')
}
