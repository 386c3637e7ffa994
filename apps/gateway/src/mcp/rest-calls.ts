import type { Identity } from '../auth/token-verifier.ts'
import type { BodyBudget } from '../http/body-budget.ts'
import type { Exchange } from '../http/exchange.ts'
import { isObject } from '../http/json.ts'
import { withSentExchange } from '../http/sent-exchange.ts'
import type { RestApi } from '../rest/rest-api.ts'
import { refusalText, ToolFault } from './tool-fault.ts'

/** Who has connected, and as what. */
export interface McpCaller {
  exchange: Exchange
  team: string
  ip: string
  identity: Identity
  /** What the token allows in the team. */
  scope: string
  /** What the client calls itself; empty where it does not say. */
  client: string
}

/** A call of the REST interface. */
export interface RestRequest {
  method: string
  /** Below `{base_url}`, percent-encoded, with its query. */
  path: string
  /** Sent as JSON, but bytes as they are. */
  body?: unknown
}

/** How far a call goes. */
export interface Reach {
  /** The words that it is given. */
  scope: string
  /** Gives it up, in place of that of all calls. */
  signal?: AbortSignal
  /** The source of the process or version that is read may be left out. */
  withoutSource?: boolean
}

interface RestOptions {
  app: RestApi['app']
  headerPrefix: string
  budget: BodyBudget
  signal: AbortSignal
}

const longestName = 200

/** Calls of the REST interface that tools make for who has connected, in process, with what each needs of their rights. */
export class RestCalls {
  readonly caller: McpCaller
  readonly #app: RestApi['app']
  readonly #budget: BodyBudget
  readonly #initiatedByHeader: string
  readonly #signal: AbortSignal
  #isFirst = true

  /** `signal` gives up what is under way. */
  constructor(caller: McpCaller, { app, headerPrefix, budget, signal }: RestOptions) {
    this.caller = caller
    this.#app = app
    this.#budget = budget
    this.#signal = signal
    this.#initiatedByHeader = `${headerPrefix}initiated-by`
  }

  /** What is answered, read as JSON. Fault: what it is refused with. */
  async json<T = unknown>(request: RestRequest, reach: Reach): Promise<T> {
    return this.within(request, reach, async (response) => {
      const text = await response.text()
      return (text === '' ? undefined : JSON.parse(text)) as T
    })
  }

  /** What `read` makes of an answer of success. Fault: what it is refused with. */
  within<T>(
    request: RestRequest,
    { scope, signal = this.#signal, withoutSource }: Reach,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { caller } = this
    const { team, exchange, ip, identity } = caller
    const target = `/api/${team}/rest${request.path}`
    const { body, type } = bodyOf(request.body)
    const headers: [string, string][] = [[this.#initiatedByHeader, initiatedBy(caller.client)]]
    if (type !== undefined) headers.push(['content-type', type], ['content-length', String(body.length)])
    const sent = { method: request.method, target, headers, body }
    return withSentExchange(sent, { exchange, ip, signal }, async (inner) => {
      inner.onBehalf = { identity, scope, withoutSource, isCounted: this.#isFirst }
      this.#isFirst = false
      try {
        const call = new Request(`http://localhost${target}`, { method: request.method })
        const response = await this.#app.fetch(call, { exchange: inner })
        if (!response.ok) throw await faultOf(response)
        return await read(response)
      } finally {
        this.#budget.release(inner)
      }
    })
  }
}

/** A path with its parameters in their places, and a query. */
export function pathOf(template: string, params: Record<string, string>, query: Record<string, unknown> = {}): string {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat() as unknown[])
      if (one !== undefined && one !== null) search.append(name, typeof one === 'string' ? one : JSON.stringify(one))
  return search.size === 0 ? path : `${path}?${search.toString()}`
}

function bodyOf(value: unknown): { body: Buffer; type?: string } {
  if (value === undefined) return { body: Buffer.alloc(0) }
  if (Buffer.isBuffer(value)) return { body: value, type: 'application/octet-stream' }
  return { body: Buffer.from(JSON.stringify(value)), type: 'application/json' }
}

/** As Node has what came as UTF-8. */
function initiatedBy(client: string): string {
  const name = client
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, longestName)
  return Buffer.from(name === '' ? 'mcp' : `mcp:${name}`).toString('latin1')
}

async function faultOf(response: Response): Promise<ToolFault> {
  const text = await response.text()
  const problem: unknown = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined
  return isObject(problem)
    ? new ToolFault(refusalText(problem), String(problem['code']))
    : new ToolFault(`The call was refused with ${response.status}`)
}
