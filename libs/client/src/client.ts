import type { TokenSource } from './access-tokens.ts'
import { Api, type Answer } from './api.ts'
import type { EventStreamOptions, StreamEvent } from './event-stream.ts'
import { Auth } from './resources/auth.ts'
import { Dependencies } from './resources/dependencies.ts'
import { Executions } from './resources/executions.ts'
import { Forms } from './resources/forms.ts'
import { Modules } from './resources/modules.ts'
import { Processes } from './resources/processes.ts'
import { Sandboxes } from './resources/sandboxes.ts'
import { Schedules } from './resources/schedules.ts'
import { Sources } from './resources/sources.ts'
import { Storage } from './resources/storage.ts'
import { Team } from './resources/team.ts'
import { Variables } from './resources/variables.ts'
import { Webhooks } from './resources/webhooks.ts'
import { Transport, type Query, type RequestOptions } from './transport.ts'

export type { TokenSource } from './access-tokens.ts'
export type { Answer, Call, QueryOf } from './api.ts'
export * from './errors.ts'
export type { EventStreamOptions, StreamEvent } from './event-stream.ts'
export type * from './generated/types.ts'
export type { Page, Pages } from './pages.ts'
export type { RunOptions, RunParameters, StartOptions } from './resources/processes.ts'
export type { StoredExecution } from './resources/executions.ts'
export type { SandboxOptions } from './resources/sandboxes.ts'
export type { TeamEvent as TeamStreamEvent } from './resources/team.ts'
export type { WebhookCall } from './resources/webhooks.ts'
export type { EndStatus, Run, RunEvent, WaitOptions } from './run.ts'
export type { SandboxFiles } from './sandbox-files.ts'
export type { SandboxTerminal, TerminalEnd, TerminalSize } from './sandbox-terminal.ts'
export type * from './team-sandbox.ts'
export type { CallOptions, EditOptions, Query, RequestOptions } from './transport.ts'
export type { UploadData, UploadOptions, UploadProgress } from './upload.ts'

export interface ClientOptions {
  /** Where the service is, such as `https://automation.example.com`. `PAS_URL` where absent. */
  url?: string
  /** Slug of the team. `PAS_TEAM` where absent. */
  team?: string
  /** An API token, an access token, or a function that gives access tokens. `PAS_TOKEN` where absent. */
  token?: TokenSource
  /** In place of the runtime's own, for example with a proxy's settings. */
  fetch?: typeof fetch
  /** How long one attempt of a call may take. 60 s; 120 s where its answer waits for a run. */
  requestTimeoutMs?: number
  /** How often a call that may be repeated is. 2. */
  maxRetries?: number
  /** Sent with every call. */
  headers?: Readonly<Record<string, string>>
  /** What the service's own headers begin with, where its operator has changed that. `Svc-`. */
  headerPrefix?: string
  userAgent?: string
  /** Reads answers in place of `JSON.parse`, which rounds integers beyond 2^53. */
  parseJson?: (text: string) => unknown
}

/**
 * Calls the service for one team.
 *
 * @example
 * const pas = new Client({ url: 'https://automation.example.com', team: 'demo', token: process.env.PAS_TOKEN })
 * const run = await pas.processes.run('greeting', { name: 'Ada' })
 * console.log(await run.result())
 */
export class Client {
  readonly url: string
  readonly team: Team
  readonly processes: Processes
  readonly executions: Executions
  readonly webhooks: Webhooks
  readonly forms: Forms
  readonly schedules: Schedules
  readonly modules: Modules
  readonly variables: Variables
  readonly dependencies: Dependencies
  readonly storage: Storage
  readonly sandboxes: Sandboxes
  readonly sources: Sources
  readonly auth: Auth
  readonly #api: Api

  constructor(options: ClientOptions = {}) {
    this.url = urlOf(options.url ?? environment('PAS_URL'))
    const team = teamOf(options.team ?? environment('PAS_TEAM'))
    const transport = new Transport({
      ...{ url: this.url, team },
      token: options.token ?? environment('PAS_TOKEN'),
      fetch: options.fetch ?? ((...call) => fetch(...call)),
      requestTimeoutMs: options.requestTimeoutMs,
      maxRetries: options.maxRetries ?? 2,
      headerPrefix: options.headerPrefix ?? 'Svc-',
      headers: { ...userAgent(options.userAgent), ...options.headers },
    })
    this.#api = new Api(transport, options.parseJson)
    this.team = new Team(this.#api, team)
    this.processes = new Processes(this.#api)
    this.executions = new Executions(this.#api)
    this.webhooks = new Webhooks(this.#api)
    this.forms = new Forms(this.#api)
    this.schedules = new Schedules(this.#api)
    this.modules = new Modules(this.#api)
    this.variables = new Variables(this.#api)
    this.dependencies = new Dependencies(this.#api)
    this.storage = new Storage(this.#api)
    this.sandboxes = new Sandboxes(this.#api)
    this.sources = new Sources(this.#api)
    this.auth = new Auth(this.#api)
  }

  /**
   * Calls an address below `{url}/api/{team}/rest`, for what has no method here; `data` is undefined where the answer has
   * no body.
   * @throws ApiError where the service refuses it, ConnectionError where it is not reached.
   */
  request<T>(method: string, path: string, options?: RequestOptions): Promise<Answer<T>> {
    return this.#api.request(method, path, options)
  }

  /**
   * Calls an address and gives the answer with its body unread. `requestTimeoutMs` is for the answer's head alone.
   * @throws ApiError where the service refuses it, ConnectionError where it is not reached.
   */
  open(method: string, path: string, options?: RequestOptions): Promise<Response> {
    return this.#api.open(method, path, options)
  }

  /** The events of a stream, which goes on behind the last event where it is cut, and ends behind an event `end`. */
  events<T = unknown>(path: string, options?: EventStreamOptions & { query?: Query }): AsyncGenerator<StreamEvent<T>> {
    return this.#api.events(path, options)
  }

  /**
   * The access token that calls show now, for connections beside this client's; undefined where it has no token. With one
   * that the service has `refused`, another: renewed once, however often it is asked for; undefined where there is none.
   */
  accessToken(refused?: string): Promise<string | undefined> {
    return this.#api.accessToken(refused)
  }
}

function urlOf(url: string | undefined): string {
  if (url === undefined) throw new TypeError('Say where the service is: give `url`, or set PAS_URL')
  const { protocol } = URL.parse(url) ?? {}
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new TypeError(`${url} is no address of a service: give one such as https://automation.example.com`)
  return url.replace(/\/+$/, '')
}

function teamOf(team: string | undefined): string {
  if (team === undefined || team === '') throw new TypeError('Say which team: give `team`, or set PAS_TEAM')
  return team
}

/** Of runtimes that have one. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return process?.env?.[name] || undefined
}

/** Browsers send their own, and ask other origins whether they take another. */
function userAgent(given?: string): { 'User-Agent'?: string } {
  const name = given ?? ('document' in globalThis ? undefined : 'process-automation-client')
  return name === undefined ? {} : { 'User-Agent': name }
}
