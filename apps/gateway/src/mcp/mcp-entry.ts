import { hash } from 'node:crypto'
import {
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  isInitializeRequest,
  type McpHttpHandler,
} from '@modelcontextprotocol/server'
import { asFailure, Failure, invalid } from '@automation/errors'
import { LRUCache } from 'lru-cache'
import { requireScope } from '../auth/scopes.ts'
import { readBody } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import { isObject, parseJson, utf8Text } from '../http/json.ts'
import { methodNotAllowed } from '../http/refusals.ts'
import type { RestApi, RestDependencies } from '../rest/rest-api.ts'
import { levels, reaches } from './levels.ts'
import { McpCallers } from './mcp-callers.ts'
import type { McpCaller } from './rest-calls.ts'
import type { Operations } from './row-tools.ts'
import { selectionFrom } from './selection.ts'
import { operationInputs } from './tool-inputs.ts'
import { toolServer, type ToolServing } from './tool-server.ts'

interface McpDependencies extends RestDependencies {
  app: RestApi['app']
  /** The OpenAPI document, as JSON text. */
  document: () => Promise<Buffer>
}

/** The longest wait of a call whose client is not told of progress: clients give up after 60 s. */
const longestWaitMs = 45_000
/** Of a batch: each is served at once. */
const mostMessages = 10
const allow = 'POST, OPTIONS'
const sessionHeader = 'mcp-session-id'

type Serving = Omit<ToolServing, 'era'>

/** MCP over Streamable HTTP, at `/api/{team}/mcp`: each request stands for itself. */
export class McpEntry {
  readonly #dependencies: McpDependencies
  readonly #callers: McpCallers
  readonly #cancellations = new Cancellations()
  readonly #handler: McpHttpHandler
  #operations: Promise<Operations> | undefined

  constructor(dependencies: McpDependencies) {
    this.#dependencies = dependencies
    this.#callers = new McpCallers(dependencies)
    this.#handler = createMcpHandler(
      ({ era, authInfo }) => toolServer({ ...(authInfo?.extra?.['serving'] as Serving), era }),
      // No list of tools tells of its changes.
      { maxSubscriptions: 0 },
    )
  }

  /** What a request is answered. Failures: those of callers; too_many_calls, forbidden_origin, method_not_allowed, invalid_input. */
  async answer(exchange: Exchange, team: string): Promise<Response> {
    exchange.route = '/api/{team}/mcp'
    exchange.team = team
    const { method = '' } = exchange.incoming
    if (method === 'OPTIONS') return new Response(null, { status: 204, headers: { Allow: allow } })
    this.#requireOrigin(exchange)
    const caller = await exchange.settle(this.#callers.of(exchange, team))
    if (!levels.some((level) => reaches(caller.scope, level)) && !caller.scope.split(' ').includes('admin'))
      requireScope({ role: 'user', team, subject: '', name: '', scope: caller.scope }, 'mcp:tools')
    if (method !== 'POST') {
      exchange.outgoing.setHeader('Allow', allow)
      throw methodNotAllowed(method, allow)
    }
    const selection = selectionFrom(exchange.query, caller.scope)
    const { config, budget, calls } = this.#dependencies
    const bytes = await readBody(exchange, { maxBytes: config.bodyMaxBytes, budget })
    const message = messageIn(bytes)
    if (Array.isArray(message) && message.length > mostMessages)
      throw invalid('', `A batch must have at most ${mostMessages} messages`)
    // The first was counted with the request.
    for (let nth = 1; Array.isArray(message) && nth < message.length; nth += 1) calls.count(team, performance.now())
    return this.#served(exchange, { caller, selection, bytes, message })
  }

  async #served(
    exchange: Exchange,
    {
      caller,
      selection,
      bytes,
      message,
    }: {
      caller: Omit<McpCaller, 'client'>
      selection: Serving['selection']
      bytes: Buffer
      message: unknown
    },
  ): Promise<Response> {
    const { app, config, document, budget, report } = this.#dependencies
    const session = String(exchange.incoming.headers[sessionHeader] ?? '')
    const { subject, sub } = caller.identity
    const keyOf = (id: unknown) => callKey([caller.team, subject, sub], session, id)
    const cancels = isObject(message) && message['method'] === 'notifications/cancelled' ? message['params'] : undefined
    if (isObject(cancels)) this.#cancellations.cancel(keyOf(cancels['requestId']))
    const key = keyOf(isObject(message) ? message['id'] : undefined)
    this.#operations ??= document().then((bytes) => operationInputs(bytes.toString()))
    const client = clientIn(message) || clientOf(session)
    const serving: Serving = {
      caller: { ...caller, client },
      app,
      headerPrefix: config.headerPrefix,
      budget,
      report,
      selection,
      operations: await this.#operations,
      begin: () => this.#cancellations.begin(key),
      waitMs: Math.min(longestWaitMs, config.syncWaitMaxMs),
    }
    const authInfo = { token: '', clientId: subject, scopes: caller.scope.split(' '), extra: { serving } }
    const request = requestFor(exchange, bytes)
    const response = await this.#handler.fetch(request, {
      authInfo,
      ...(message !== undefined && { parsedBody: message }),
    })
    return isInitializeRequest(message) ? withSession(response, client) : response
  }

  /** A page of somebody else may not act for whoever looks at it. Failure: forbidden_origin. */
  #requireOrigin({ incoming }: Exchange): void {
    const { origin } = incoming.headers
    const { corsOrigins, publicUrl } = this.#dependencies.config
    if (origin === undefined || corsOrigins.includes('*')) return
    if (origin === new URL(publicUrl).origin || corsOrigins.includes(origin)) return
    throw foreignOrigin()
  }
}

function foreignOrigin(): Failure {
  const text = 'Pages of this origin may not call MCP; CORS_ORIGINS names those that may'
  return new Failure('permission_denied', 'forbidden_origin', text)
}

/**
 * What a call of a caller is known by; undefined where none can be cancelled: outside a session ids of calls are those of
 * many clients.
 */
function callKey(caller: string[], session: string, id: unknown): string | undefined {
  if (session === '' || (typeof id !== 'string' && typeof id !== 'number')) return undefined
  return hash('sha256', JSON.stringify([...caller, session, id]))
}

/** The JSON of a body; undefined where it is none, which the protocol has an answer for. */
function messageIn(bytes: Buffer): unknown {
  const text = utf8Text(bytes)
  if (text === undefined) return undefined
  try {
    return parseJson(text)
  } catch (error) {
    if (asFailure(error).code === 'invalid_json') return undefined
    throw error
  }
}

/** What a client calls itself in a message. */
function clientIn(message: unknown): string {
  const params = isObject(message) ? message['params'] : undefined
  if (!isObject(params)) return ''
  const meta = isObject(params['_meta']) ? params['_meta'][CLIENT_INFO_META_KEY] : undefined
  const info = meta ?? (isInitializeRequest(message) ? params['clientInfo'] : undefined)
  return isObject(info) && typeof info['name'] === 'string' ? info['name'] : ''
}

/** The request as the protocol reads it: without credentials, and given up when the client goes. */
function requestFor({ incoming, path, signal }: Exchange, bytes: Buffer): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers))
    if (typeof value === 'string' && (name.startsWith('mcp-') || name === 'accept' || name === 'content-type'))
      headers.set(name, value)
  return new Request(`http://localhost${path}`, { method: 'POST', headers, body: new Uint8Array(bytes), signal })
}

function withSession(response: Response, client: string): Response {
  const headers = new Headers(response.headers)
  headers.set(sessionHeader, newSessionId(client))
  return new Response(response.body, { status: response.status, headers })
}

const longestName = 200

/**
 * The id of a session of the revisions of 2025. Nothing is kept for it: it tells calls of one client from those of another,
 * and has the name that the client gave itself at its beginning.
 */
function newSessionId(client: string): string {
  return `${crypto.randomUUID()}.${Buffer.from(client.slice(0, longestName)).toString('base64url')}`
}

/** The name of the client in the id of a session; empty where it has none. */
function clientOf(sessionId: string): string {
  const encoded = sessionId.split('.')[1] ?? ''
  return Buffer.from(encoded, 'base64url').toString('utf8').slice(0, longestName)
}

/** How long a cancellation waits for its call, which may come behind it, and a call that is over for its cancellation. */
const keptMs = 5000
const mostKept = 10_000

/**
 * Calls that go on, by the caller and the id that its client gave them: clients of the revisions of 2025 cancel a call by a
 * request of its own, which may also overtake it. Of several calls of the same key none is cancelled, as nobody knows which
 * is meant.
 */
class Cancellations {
  readonly #open = new Map<string, Set<AbortController>>()
  /** Calls that were cancelled before they began, and those that are over. */
  readonly #lately = new LRUCache<string, 'cancelled' | 'over'>({ max: mostKept, ttl: keptMs })

  /** A call begins; `end` is called when it is over. Without a key it is never cancelled. */
  begin(key: string | undefined): { signal: AbortSignal; end(): void } {
    const controller = new AbortController()
    if (key === undefined) return { signal: controller.signal, end: () => undefined }
    if (this.#lately.get(key) === 'cancelled') controller.abort()
    this.#lately.delete(key)
    const calls = this.#open.get(key) ?? new Set()
    this.#open.set(key, calls.add(controller))
    const end = () => {
      calls.delete(controller)
      this.#lately.set(key, 'over')
      if (calls.size === 0 && this.#open.get(key) === calls) this.#open.delete(key)
    }
    return { signal: controller.signal, end }
  }

  cancel(key: string | undefined): void {
    if (key === undefined) return
    const calls = [...(this.#open.get(key) ?? [])]
    if (calls.length === 1) calls[0]?.abort()
    if (calls.length === 0 && !this.#lately.has(key)) this.#lately.set(key, 'cancelled')
  }
}
