import {
  SessionService,
  type OpenSessionRequestSchema,
  type ReadSessionRequestSchema,
  type ReadSessionResponse,
  type Session,
} from '@automation/contract/catalog/v1/session'
import { asFailure, Failure } from '@automation/errors'
import { asService, ownContext, type Client, type Neighbours } from '@automation/rpc'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { LRUCache } from 'lru-cache'
import { within, type Logger } from '@automation/service'
import { addressOf, type ClientAddress } from '../http/caller.ts'
import type { Exchange } from '../http/exchange.ts'
import { cookieValues, sessionCookieNames } from '../http/session-cookie.ts'
import type { Issuer } from './oidc/issuer.ts'
import { identityOf } from './oidc/signed-in.ts'

const self = asService('gateway')

/** How long what was read of a session counts. */
const keptMs = 10_000

/** How long a call waits for an issuer that is asked again; that goes on without it. */
const renewalWaitMs = 1500

const longestS = 7 * 86_400

/** What a session may do in a team. */
export interface Access {
  accessToken: string
  name: string
  /** Of the session in the team. */
  scopes: string[]
}

export interface SessionsOptions {
  neighbours: Neighbours
  clientAddress: ClientAddress
  callTimeoutMs: number
  logger: Logger
  /** Where people sign in; undefined where there is no such place. */
  issuer: Issuer | undefined
}

/** Sessions as browsers hold them: a cookie with an id, and what the catalog knows of that. */
export class Sessions {
  readonly #catalog: Client<typeof SessionService>
  readonly #options: SessionsOptions
  readonly #known = new LRUCache<string, Promise<Access>>({ max: 10_000, ttl: keptMs })
  /** That are on their way, whoever waits for them. */
  readonly #renewals = new Set<Promise<void>>()
  /** Is told of each session that ends here. */
  ended: (sessionId: string) => void = () => undefined

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#catalog = options.neighbours.client(SessionService)
  }

  /** Opens one; its id is always new, whatever cookie came. Failures: invalid_credentials, no_team. */
  open(
    credentials: MessageInitShape<typeof OpenSessionRequestSchema>['credentials'],
    exchange: Exchange,
  ): Promise<{ sessionId: string; session?: Session }> {
    return this.#catalog.openSession({ credentials, ip: this.#address(exchange) }, this.#context())
  }

  /** The session of an id as it is now; undefined where it has ended. */
  async read(sessionId: string): Promise<Session | undefined> {
    try {
      return (await this.#read({ sessionId })).session
    } catch (error) {
      if (isEnded(error)) return undefined
      throw error
    }
  }

  /** What a session may do in a team, at most 10 s old. Failures: session_ended, forbidden. */
  access(sessionId: string, team: string): Promise<Access> {
    const key = `${sessionId} ${team}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const reading = this.#access(sessionId, team)
    this.#known.set(key, reading)
    reading.catch(() => this.#known.delete(key))
    return reading
  }

  /** What it may do in each of its teams now, nothing where it has ended; it counts as no use of it. */
  async scopesByTeam(sessionId: string): Promise<Map<string, string[]>> {
    try {
      const { session } = await this.#read({ sessionId, lookOnly: true })
      return new Map(session?.grants.map(({ team, scopes }) => [team, scopes]))
    } catch (error) {
      if (isEnded(error)) return new Map()
      throw error
    }
  }

  /** Ends one, here and at its issuer; where a browser is sent to be signed out there as well, where it can be. */
  async close(sessionId: string, exchange: Exchange): Promise<string | undefined> {
    const { issuer } = this.#options
    const secrets = await this.#end(sessionId, this.#address(exchange))
    const [out] = await Promise.all([this.#told(issuer?.wayOut(secrets)), this.#told(issuer?.takeBack(secrets))])
    return out
  }

  /**
   * Ends one whose place another of a subject has taken. The issuer takes back nothing of the same subject: what it has
   * given to the other may belong to the same grant.
   */
  async replace(sessionId: string, subject: string, exchange: Exchange): Promise<void> {
    const { issuer } = this.#options
    const secrets = await this.#end(sessionId, this.#address(exchange))
    if (issuer !== undefined && issuer.subjectOf(secrets) !== subject) await this.#told(issuer.takeBack(secrets))
  }

  /** Undefined where the issuer could not be told of a session that has ended. */
  async #told<T>(telling: Promise<T> | undefined): Promise<T | undefined> {
    try {
      return await telling
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'the issuer was not told of a session that has ended')
      return undefined
    }
  }

  async #end(sessionId: string, ip: string): Promise<string> {
    const { secrets } = await this.#catalog.closeSession({ sessionId, ip }, this.#context())
    for (const key of this.#known.keys()) if (key.startsWith(`${sessionId} `)) this.#known.delete(key)
    this.ended(sessionId)
    return secrets
  }

  /** As the catalog has it; where its issuer is to be asked first, as it is then. Failures: session_ended, forbidden. */
  async #read(request: MessageInitShape<typeof ReadSessionRequestSchema>): Promise<ReadSessionResponse> {
    const found = await this.#catalog.readSession(request, this.#context())
    if (!found.renewalDue) return found
    const renewal = this.#renew(request.sessionId ?? '', found.secrets).finally(() => this.#renewals.delete(renewal))
    this.#renewals.add(renewal)
    await within(renewalWaitMs, renewal)
    return this.#catalog.readSession(request, this.#context())
  }

  /** Returns when no issuer is asked: what it gives in place of what it had before would be lost. */
  async idle(): Promise<void> {
    while (this.#renewals.size > 0) await Promise.allSettled(this.#renewals)
  }

  /** An issuer that does not answer is asked again later; one that says no ends the session. Failure session_ended. */
  async #renew(sessionId: string, secrets: string): Promise<void> {
    const { issuer, logger } = this.#options
    try {
      if (issuer === undefined) throw sessionEnded()
      const identity = identityOf(await issuer.renew(secrets))
      await this.#catalog.renewSession({ sessionId, identity }, this.#context())
    } catch (error) {
      const { kind } = asFailure(error)
      if (kind !== 'unauthenticated' && kind !== 'permission_denied')
        return logger.warn({ err: error }, 'a session could not be renewed; trying again')
      await this.#end(sessionId, '')
      throw sessionEnded()
    }
  }

  async #access(sessionId: string, team: string): Promise<Access> {
    const { accessToken, session } = await this.#read({ sessionId, team })
    const scopes = session?.grants.find((grant) => grant.team === team)?.scopes ?? []
    return { accessToken, name: session?.name ?? '', scopes }
  }

  #address(exchange: Exchange): string {
    return addressOf(exchange, this.#options.clientAddress)
  }

  #context() {
    return ownContext(self, this.#options.callTimeoutMs)
  }
}

/** There is no session, or no longer. */
export function sessionEnded(): Failure {
  return new Failure('unauthenticated', 'session_ended', 'Your session has ended: sign in again')
}

function isEnded(error: unknown): boolean {
  return error instanceof Failure && error.code === 'session_ended'
}

/** 256 bits; nobody is asked about anything else. */
const sessionIdForm = /^[\w-]{43}$/

/** The cookie that holds the id of a session, at an origin. */
export class SessionCookie {
  readonly #name: string
  readonly #attributes: string

  constructor(origin: string) {
    const isSecure = origin.startsWith('https:')
    this.#name = sessionCookieNames[isSecure ? 'https' : 'http']
    this.#attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  }

  /** The id in a request. Undefined also where there are several: without https, neighbours on the host can add theirs. */
  read({ incoming }: Exchange): string | undefined {
    const values = new Set(cookieValues(incoming.headers.cookie, this.#name))
    const [only] = values
    return values.size === 1 && only !== undefined && sessionIdForm.test(only) ? only : undefined
  }

  set(sessionId: string): string {
    return `${this.#name}=${sessionId}; Max-Age=${longestS}; ${this.#attributes}`
  }

  clear(): string {
    return `${this.#name}=; Max-Age=0; ${this.#attributes}`
  }
}
