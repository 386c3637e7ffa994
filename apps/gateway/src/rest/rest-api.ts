import type { Failure } from '@automation/errors'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { z } from '@hono/zod-openapi'
import { Hono, type Context } from 'hono'
import { bearerToken, principalFor } from '../auth/authorize.ts'
import type { TokenVerifier } from '../auth/token-verifier.ts'
import type { GatewayConfig } from '../config.ts'
import type { BodyBudget } from '../http/body-budget.ts'
import type { BodyRules } from '../http/body.ts'
import { addressOf, callContext, headerText } from '../http/caller.ts'
import type { ClientAddress } from '../http/client-address.ts'
import type { Exchange } from '../http/exchange.ts'
import { listedQueryRecord } from '../http/query-record.ts'
import { methodNotAllowed } from '../http/refusals.ts'
import { beginSource, sendSource } from '../http/send-source.ts'
import { jsonText } from '../json/raw-json.ts'
import { readJsonBody } from './json-body.ts'
import type { Call, Handler, Operation, Reply } from './operation.ts'
import { validate } from './validate.ts'

export type RestEnv = { Bindings: { exchange: Exchange } }

export interface RestDependencies {
  /** Is told of every failure that a caller is answered with. */
  report: (failure: Failure, exchange: Exchange) => void
  config: GatewayConfig
  verifier: TokenVerifier
  clientAddress: ClientAddress
  budget: BodyBudget
}

/**
 * The REST interface: each operation is routed and answered from the definition that the document is made of. Checks
 * come in this order: token, team, path, query, body.
 */
export class RestApi {
  readonly app: Hono<RestEnv> = new Hono<RestEnv>()
  /** What was added, for the document. */
  readonly operations: Operation[] = []
  readonly #dependencies: RestDependencies
  readonly #bodyRules: BodyRules
  readonly #initiatedByHeader: string
  readonly #allowed = new Map<string, string[]>()

  constructor(dependencies: RestDependencies) {
    this.#dependencies = dependencies
    this.#bodyRules = { maxBytes: dependencies.config.bodyMaxBytes, budget: dependencies.budget }
    this.#initiatedByHeader = `${dependencies.config.headerPrefix}initiated-by`.toLowerCase()
  }

  add<Q extends z.ZodObject, B extends z.ZodType, S extends z.ZodType>(
    operation: Operation<Q, B, S>,
    handler: Handler<z.output<Q>, z.output<B>, z.input<S>>,
  ): void {
    const path = `/api/{team}/rest${operation.path}`
    const route = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      operation.parameters?.[name]?.rest === true ? `:${name}{[^]+}` : `:${name}`,
    )
    this.operations.push(operation)
    this.app.on(operation.method.toUpperCase(), route, (c) => this.#answer(operation, handler, c, path))
    this.#allowed.set(route, [...(this.#allowed.get(route) ?? []), operation.method.toUpperCase()])
  }

  /** Answers the other methods of every path that was added: 405, and OPTIONS. Call it after the last `add`. */
  close(): void {
    for (const [route, methods] of this.#allowed) {
      const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
      this.app.all(route, (c) => {
        if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { Allow: allow } })
        c.env.exchange.outgoing.setHeader('Allow', allow)
        throw methodNotAllowed(c.req.method, allow)
      })
    }
  }

  async #answer<Q extends z.ZodObject, B extends z.ZodType>(
    operation: Operation<Q, B>,
    handler: Handler<z.output<Q>, z.output<B>, unknown>,
    c: Context<RestEnv>,
    path: string,
  ): Promise<Response> {
    const { exchange } = c.env
    const team = c.req.param('team') ?? ''
    exchange.route = path
    exchange.team = team
    const timeoutMs = operation.timeoutMs ?? this.#dependencies.config.callTimeoutMs
    const { principal, tokenTeams, tokenEndsMs } = await this.#caller(operation, exchange, team)
    const params: Record<string, string> = {}
    for (const [name, parameter] of Object.entries(operation.parameters ?? {}))
      params[name] = parameter.read(parameter.rest === true ? restOf(exchange.path, path) : (c.req.param(name) ?? ''))
    const query = operation.query === undefined ? {} : validate(operation.query, listedQueryRecord(exchange.query))
    const { value, text, bytes } =
      operation.body === undefined
        ? NO_BODY
        : await readJsonBody(exchange, this.#bodyRules, operation.bodyOptional === true)
    const call: Call<z.output<Q>, z.output<B>> = {
      exchange,
      team,
      principal,
      tokenTeams,
      tokenEndsMs,
      context: callContext(exchange, principal, timeoutMs),
      params,
      query: query as z.output<Q>,
      body: (operation.body === undefined ? undefined : validate(operation.body, value)) as z.output<B>,
      bodyValue: value,
      bodyText: text,
      bodyBytes: bytes,
    }
    const reply = await exchange.settle(handler(call))
    if (reply.source === undefined) return responseOf(operation, reply)
    const head = { status: reply.status ?? operation.success.status, headers: reply.headers ?? {} }
    if (exchange.incoming.method === 'HEAD') {
      // Hono makes the answer to a HEAD anew, so it can't have been sent.
      await beginSource(reply.source)
      return new Response(null, head)
    }
    await sendSource(exchange, head, reply.source, this.#dependencies.report)
    return RESPONSE_ALREADY_SENT
  }

  async #caller(
    operation: Operation,
    exchange: Exchange,
    team: string,
  ): Promise<Pick<Call<unknown, unknown>, 'principal' | 'tokenTeams' | 'tokenEndsMs'>> {
    const { verifier, clientAddress } = this.#dependencies
    const ip = addressOf(exchange, clientAddress)
    if (operation.open === true)
      return { principal: { role: 'user', team, subject: '', name: '', ip }, tokenTeams: [], tokenEndsMs: Infinity }
    const identity = await verifier.verify(bearerToken(exchange.incoming.headers.authorization, team))
    const initiatedBy = headerText(exchange, this.#initiatedByHeader)
    const principal = principalFor(identity, team, initiatedBy, ip)
    return { principal, tokenTeams: identity.groups, tokenEndsMs: identity.endsMs }
  }
}

/** What a path has beyond the fixed beginning of its template, which ends in a parameter; team slugs have no slashes. */
function restOf(path: string, template: string): string {
  const fixed = template.slice(0, template.lastIndexOf('{')).split('/').length - 1
  return path.split('/').slice(fixed).join('/')
}

// Some clients fail on an answer that may have a body and says nothing of its type.
const EMPTY_BODY = { 'Content-Length': '0', 'Content-Type': 'text/plain; charset=utf-8' }

const NO_BODY = { value: undefined, text: '', bytes: Buffer.alloc(0) }

function responseOf(operation: Operation, reply: Reply<unknown>): Response {
  const { status = operation.success.status } = reply
  if (reply.stream !== undefined) return new Response(reply.stream, { status, headers: reply.headers })
  if (reply.body === undefined) {
    const isBodyless = status === 204 || status === 304
    return new Response(null, { status, headers: { ...(isBodyless ? undefined : EMPTY_BODY), ...reply.headers } })
  }
  const headers = { 'Content-Type': 'application/json', ...reply.headers }
  return new Response(jsonText(reply.body), { status, headers })
}
