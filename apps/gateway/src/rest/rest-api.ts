import { allows } from '@automation/contract/scopes'
import { Failure, type FieldFault } from '@automation/errors'
import { Readable } from 'node:stream'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { z } from '@hono/zod-openapi'
import { type Context, Hono } from 'hono'
import type { Neighbours } from '@automation/rpc'
import { apiTokenIdentity } from '../auth/api-token-caller.ts'
import type { CallLimits } from '../auth/call-limits.ts'
import type { TeamAddresses } from '../auth/team-addresses.ts'
import { requireScope } from '../auth/scopes.ts'
import { bearerToken, principalFor, scopeIn, type Identity, type TokenVerifier } from '../auth/token-verifier.ts'
import type { GatewayConfig } from '../config.ts'
import type { BodyBudget } from '../http/body-budget.ts'
import { type BodyRules, isJson, mediaTypeOf, readBody } from '../http/body.ts'
import { addressOf, callContext, type ClientAddress, clientKey, headerText } from '../http/caller.ts'
import { type Exchange, listedQueryRecord } from '../http/exchange.ts'
import { methodNotAllowed, unsupportedMediaType } from '../http/refusals.ts'
import { beginSource, sendSource } from '../http/send-source.ts'
import { invalidJson, isObject, jsonText, parseJson, utf8Text } from '../http/json.ts'
import { ifMatchFrom } from './edits.ts'
import { addressOf as pathOf, type Call, type Handler, linkToken, type Operation, type Reply } from './operation.ts'

type RestEnv = { Bindings: { exchange: Exchange } }

export interface RestDependencies {
  /** Is told of every failure that a caller is answered with. */
  report: (failure: Failure, exchange: Exchange) => void
  config: GatewayConfig
  verifier: TokenVerifier
  calls: CallLimits
  teamAddresses: TeamAddresses
  neighbours: Neighbours
  clientAddress: ClientAddress
  budget: BodyBudget
}

type Answerer = (c: Context<RestEnv>) => Promise<Response>

/**
 * The REST interface: each operation is routed and answered from the definition that the document is made of. Checks
 * come in this order: token, team, path, query, If-Match, body.
 */
export class RestApi {
  readonly app: Hono<RestEnv> = new Hono<RestEnv>()
  /** What was added, for the document. */
  readonly operations: Operation[] = []
  readonly #dependencies: RestDependencies
  readonly #bodyRules: BodyRules
  readonly #initiatedByHeader: string
  /** By their methods. */
  readonly #routes = new Map<string, Map<string, Answerer>>()
  readonly #amongNames = new Set<string>()

  constructor(dependencies: RestDependencies) {
    this.#dependencies = dependencies
    this.#bodyRules = { maxBytes: dependencies.config.bodyMaxBytes, budget: dependencies.budget }
    this.#initiatedByHeader = `${dependencies.config.headerPrefix}initiated-by`.toLowerCase()
  }

  add<
    Q extends z.ZodObject,
    B extends z.ZodType,
    S extends z.ZodType,
    A extends z.ZodType = z.ZodNever,
    O extends z.ZodType = z.ZodNever,
  >(
    operation: Operation<Q, B, S, A, O>,
    handler: Handler<z.output<Q>, z.output<B>, z.input<S> | z.input<A> | z.input<O>>,
  ): void {
    this.operations.push(operation)
    const also = operation.alsoAt === undefined ? [] : [{ ...operation, path: operation.alsoAt }]
    for (const one of [operation, ...also]) {
      const path = pathOf(one)
      const route = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        operation.parameters?.[name]?.rest === true ? `:${name}{[^]+}` : `:${name}`,
      )
      const answers = this.#routes.get(route) ?? new Map<string, Answerer>()
      answers.set(operation.method.toUpperCase(), (c) => this.#answer(operation, handler, c, path))
      this.#routes.set(route, answers)
      if (one.amongNames === true) this.#amongNames.add(route)
    }
  }

  /**
   * Routes what was added, and answers the other methods of each path: 405, and OPTIONS. Call it after the last `add`. A path
   * whose words are fixed comes before one that has a parameter there.
   */
  close(): void {
    const routes = [...this.#routes].toSorted(([a], [b]) => Number(isFixed(b)) - Number(isFixed(a)))
    for (const [route, answers] of routes) {
      for (const [method, answer] of answers) this.app.on(method, route, answer)
      const methods = [...answers.keys()]
      const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
      this.app.all(route, (c, next) => {
        if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { Allow: allow } })
        if (this.#amongNames.has(route)) return next()
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
    exchange.route = path
    exchange.team = c.req.param('team') ?? ''
    const timeoutMs = operation.timeoutMs ?? this.#dependencies.config.callTimeoutMs
    const { principal, ...caller } = await this.#caller(operation, exchange, exchange.team)
    const { team } = principal
    exchange.team = team
    const params: Record<string, string> = {}
    for (const [name, parameter] of Object.entries(operation.parameters ?? {}))
      params[name] = parameter.read(parameter.rest === true ? restOf(exchange.path, path) : (c.req.param(name) ?? ''))
    const query =
      operation.query === undefined ? {} : validate(operation.query, listedQueryRecord(exchange.query), queryFaultWords)
    const ifMatch = operation.conditional === true ? ifMatchFrom(exchange.incoming.headers['if-match']) : []
    const { value, text, bytes } =
      operation.body === undefined
        ? NO_BODY
        : await readJsonBody(exchange, this.#bodyRules, operation.bodyOptional === true)
    const call: Call<z.output<Q>, z.output<B>> = {
      exchange,
      team,
      principal,
      ...caller,
      context: callContext(exchange, principal, timeoutMs),
      ifMatch,
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
    if (exchange.onBehalf !== undefined) return new Response(asStream(reply.source), head)
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
  ): Promise<Pick<Call<unknown, unknown>, 'principal' | 'teamsWith' | 'tokenEndsMs' | 'endsByItselfAtMs'>> {
    const { clientAddress, teamAddresses, calls } = this.#dependencies
    const ip = addressOf(exchange, clientAddress)
    if (operation.open === true && operation.atRoot !== true) {
      // Who floods the way to tokens keeps nobody else from theirs.
      calls.countOpen(team, performance.now(), operation.perAddress === true ? clientKey(ip) : '')
      const principal = { role: 'user' as const, team, subject: '', name: '', ip }
      return { principal, ...OF_NO_TOKEN }
    }
    if (operation.alsoByLink === true && linkToken(exchange) !== undefined) {
      calls.countOpen(team, performance.now())
      return { principal: { role: 'user' as const, team, subject: 'link', name: 'link', ip }, ...OF_NO_TOKEN }
    }
    const { onBehalf } = exchange
    const identity = onBehalf?.identity ?? (await this.#identity(operation, exchange, team, ip))
    const initiatedBy = headerText(exchange, this.#initiatedByHeader)
    const own = operation.atRoot === true ? (identity.groups[0] ?? '') : team
    const known = principalFor(identity, own, initiatedBy, ip)
    const principal = onBehalf === undefined ? known : { ...known, scope: onBehalf.scope }
    teamAddresses.check(own, ip)
    if (onBehalf === undefined) calls.count(own, performance.now())
    else if (!onBehalf.isCounted) calls.countInner(own, performance.now())
    for (const scope of [operation.scope, operation.alsoScope]) if (scope !== undefined) requireScope(principal, scope)
    const { groups, endsMs: tokenEndsMs, accessEndsMs, isOwn } = identity
    const teamsWith = (scope: 'read' | 'build') =>
      groups.filter((one) => allows(scopeIn(identity, one), scope) && teamAddresses.allow(one, ip))
    return { principal, teamsWith, tokenEndsMs, endsByItselfAtMs: isOwn ? accessEndsMs : tokenEndsMs }
  }

  #identity({ atRoot }: Operation, exchange: Exchange, team: string, ip: string): Promise<Identity> {
    const { verifier, neighbours, config } = this.#dependencies
    const { headers } = exchange.incoming
    if (atRoot !== true) return verifier.verify(bearerToken(headers.authorization, team))
    const nobody = { role: 'user', team: '', subject: '', name: '', ip } as const
    return apiTokenIdentity(neighbours, headers['x-api-token'], callContext(exchange, nobody, config.callTimeoutMs))
  }
}

const OF_NO_TOKEN = { teamsWith: () => [], tokenEndsMs: Infinity, endsByItselfAtMs: undefined }

function asStream(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  return Readable.toWeb(Readable.from(source)) as ReadableStream<Uint8Array>
}

/** Whether the team alone is a parameter of a route. */
function isFixed(route: string): boolean {
  return !route.slice(route.indexOf('/rest/')).includes(':')
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

/** A JSON body: its value, the text that it was read from, and the bytes as they came. */
interface JsonBody {
  value: unknown
  text: string
  bytes: Buffer
}

const UTF8_CHARSETS = new Set([undefined, 'utf-8', 'utf8', 'us-ascii'])

/**
 * Reads the JSON object in a request's body; without a Content-Type too. With `optional` an empty body counts as `{}`.
 * Failures: those of the body; unsupported_media_type, invalid_json.
 */
async function readJsonBody(exchange: Exchange, rules: BodyRules, optional: boolean): Promise<JsonBody> {
  const bytes = await readBody(exchange, rules)
  if (bytes.length === 0 && optional) return { value: {}, text: '{}', bytes }
  const { essence, charset } = mediaTypeOf(exchange.incoming.headers['content-type'])
  if (essence !== '' && !isJson(essence)) throw unsupportedMediaType('The body must be application/json')
  if (!UTF8_CHARSETS.has(charset)) throw unsupportedMediaType('The body must be JSON in UTF-8')
  const text = utf8Text(bytes)
  if (text === undefined) throw invalidJson('', 'is not valid UTF-8')
  const value = parseJson(text)
  if (!isObject(value)) throw invalidJson('', 'must be a JSON object')
  return { value, text, bytes }
}

// Nobody reads more of them; a list of ever so many wrong items has one each.
const MAX_FAULTS = 100

/** The value as the schema has it. Failure: invalid_input with the pointer of each fault. */
export function validate<S extends z.ZodType>(schema: S, value: unknown, error = faultWords): z.output<S> {
  const result = schema.safeParse(value, { error })
  if (result.success) return result.data
  const issues = result.error.issues.slice(0, MAX_FAULTS)
  throw invalidInput(issues.map((issue) => ({ path: pointerOf(issue.path), message: issue.message })))
}

/** A failure with all faults; its text tells them, too. */
export function invalidInput(fields: FieldFault[]): Failure {
  return new Failure('invalid_argument', 'invalid_input', fields[0]?.message ?? 'The input is not valid', { fields })
}

/** An RFC 6901 pointer. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

type Issue = Parameters<NonNullable<z.core.$ZodErrorMap>>[0]

const KINDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
}

/** What is wrong with a value, in words that go on from the name of its field. */
function faultWords(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is required'
        : `must be ${KINDS[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}`
    case 'invalid_value':
      return `must be ${oneOf(issue.values.map(String))}`
    case 'too_small':
      return `must ${bound('at least', issue.minimum, issue.origin)}`
    case 'too_big':
      return `must ${bound('at most', issue.maximum, issue.origin)}`
    case 'unrecognized_keys':
      return `must not have ${issue.keys.join(', ')}`
    case 'invalid_format':
      return `must be a valid ${issue.format.replaceAll('_', ' ')}`
    default:
      return 'is not valid'
  }
}

/** In a query a list is what was given more than once. */
function queryFaultWords(issue: Issue): string {
  return issue.code === 'invalid_type' && Array.isArray(issue.input) ? 'must be given once' : faultWords(issue)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction'
  return typeof value === 'boolean' ? String(value) : (KINDS[typeof value] ?? typeof value)
}

function oneOf(values: string[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`
}

function bound(which: string, limit: number | bigint, origin: string): string {
  const many = Number(limit) === 1 ? '' : 's'
  if (origin === 'string') return `have ${which} ${limit} character${many}`
  return origin === 'array' || origin === 'set' ? `have ${which} ${limit} item${many}` : `be ${which} ${limit}`
}

/** Gives what `work` gives; where that fails, each faulty field is named by the pointer that the caller wrote it at. */
export async function withFaultsAt<T>(work: Promise<T>, pointerFor: (path: string) => string): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof Failure) || error.fields.length === 0) throw error
    const { kind, code, message, cause, retryAfterS, executionId } = error
    throw new Failure(kind, code, message, {
      cause,
      fields: error.fields.map((fault) => ({ ...fault, path: pointerFor(fault.path) })),
      ...(retryAfterS !== undefined && { retryAfterS }),
      ...(executionId !== undefined && { executionId }),
    })
  }
}
