import { Attempts } from '@automation/passwords/attempts'
import { atMost } from '@automation/service'
import type { ConsoleListener } from '../config.ts'
import { HttpServer, type ServerOptions } from '../http/server.ts'
import type { BodyBudget } from '../http/body-budget.ts'
import { ConsoleEntry, type ConsoleEntryDependencies } from './console-entry.ts'
import { ConsoleFiles } from './files.ts'
import { Issuer } from './oidc/issuer.ts'
import { OidcRoutes } from './oidc/oidc-routes.ts'
import { SessionRoutes } from './session-routes.ts'
import { SessionCookie, Sessions, type SessionsOptions } from './sessions.ts'

interface ConsolePortOptions
  extends
    Omit<ConsoleEntryDependencies, 'origin' | 'sessions' | 'cookie' | 'routes' | 'files'>,
    Pick<SessionsOptions, 'neighbours' | 'clientAddress'> {
  listener: ConsoleListener
  budget: BodyBudget
  /** As at the gateway's own port. */
  server: Omit<ServerOptions, 'handle' | 'upgrade'>
}

/** The listener for the console, at an origin of its own. */
export class ConsolePort {
  readonly #options: ConsolePortOptions
  readonly #server: HttpServer
  #entry: ConsoleEntry | undefined
  #sessions: Sessions | undefined
  #url: string | undefined
  #port = 0

  constructor(options: ConsolePortOptions) {
    this.#options = options
    this.#url = options.listener.url
    this.#server = new HttpServer({
      ...options.server,
      handle: (exchange) => this.#entry?.handle(exchange),
      upgrade: async (exchange, socket, head) => this.#entry?.upgrade(exchange, socket, head),
    })
  }

  /** Resolves with the port that it listens on. */
  async listen(host: string | undefined): Promise<number> {
    const { listener, config, neighbours, clientAddress, budget, ...rest } = this.#options
    const port = await this.#server.listen(listener.port, host)
    const origin = listener.url ?? `http://localhost:${port}`
    this.#url = origin
    const { external, callTimeoutMs } = config
    const client = external?.client && { ...external, ...external.client }
    const issuer = client && new Issuer(client, origin)
    const sessions = new Sessions({ neighbours, clientAddress, callTimeoutMs, logger: rest.logger, issuer })
    this.#sessions = sessions
    const cookie = new SessionCookie(origin)
    const report = rest.observer.failed
    const attempts = new Attempts()
    const ways = { sessions, cookie, origin, clientAddress, attempts }
    const oidc = issuer && new OidcRoutes({ ...ways, issuer, clientSecret: client.secret, report })
    const routes = new SessionRoutes({ ...ways, config, budget, oidc })
    const files = new ConsoleFiles(listener.folder)
    this.#entry = new ConsoleEntry({ ...rest, config, origin, sessions, cookie, routes, files })
    this.#port = port
    return port
  }

  /** That it listens on, once it does. */
  get port(): number {
    return this.#port
  }

  /** Its origin; undefined where that is known only once it listens. */
  get url(): string | undefined {
    return this.#url
  }

  async stop(graceMs: number): Promise<void> {
    const endMs = performance.now() + graceMs
    this.#entry?.stop()
    await this.#server.stop(graceMs)
    if (this.#sessions !== undefined) await atMost(Math.max(0, endMs - performance.now()), this.#sessions.idle())
  }
}
