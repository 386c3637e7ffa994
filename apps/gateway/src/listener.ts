import { isTeamSlug } from '@automation/contract/forms'
import { asFailure, type Failure } from '@automation/errors'
import { getRequestListener, RequestError } from '@hono/node-server'
import type { GatewayConfig } from './config.ts'
import { inadmissible, send, type Exchange } from './http/exchange.ts'
import { cors } from './http/cors.ts'
import { problemAnswer } from './http/problem.ts'
import { malformedRequest, noSuchRoute } from './http/refusals.ts'
import type { Observer } from './observe.ts'
import type { RestApi } from './rest/rest-api.ts'
import type { WebhookTarget } from './webhooks/webhook-call.ts'
import type { WebhookEntry } from './webhooks/webhook-entry.ts'

export interface ListenerDependencies {
  config: GatewayConfig
  app: RestApi['app']
  webhooks: WebhookEntry
  observer: Observer
}

/** What happens to each request: webhooks go straight to their entry, all else through the Hono app. */
export function listener({ config, app, webhooks, observer }: ListenerDependencies): (exchange: Exchange) => void {
  const { webhookDomain } = config
  const executionIdHeader = `${config.headerPrefix}Execution-ID`
  const exposed = [executionIdHeader, 'X-Request-Id', 'Location', 'Idempotency-Replayed', 'Retry-After', 'ETag']
  const crossOrigin = config.corsOrigins.length === 0 ? undefined : cors(config.corsOrigins, exposed)
  const exchanges = new WeakMap<object, Exchange>()
  const rest = getRequestListener(
    (request, { incoming }) => app.fetch(request, { exchange: exchanges.get(incoming) }),
    { hostname: 'localhost', autoCleanupIncoming: false, errorHandler: rethrow },
  )

  const refuse = (failure: Failure, exchange: Exchange): void => {
    observer.failed(failure, exchange)
    const { requestId, path } = exchange
    send(exchange.outgoing, problemAnswer(failure, { requestId, path, executionIdHeader }))
  }

  const toRest = (exchange: Exchange): Promise<void> => {
    exchanges.set(exchange.incoming, exchange)
    const { outgoing, path } = exchange
    outgoing.setHeader('X-Request-Id', exchange.requestId)
    outgoing.setHeader('X-Content-Type-Options', 'nosniff')
    // What a team keeps is in no cache on the way, but where an answer says so itself: contents are asked for by their ETag.
    if (path.startsWith('/api/') || path.startsWith('/run')) outgoing.setHeader('Cache-Control', 'no-store')
    return rest(exchange.incoming, exchange.outgoing)
  }

  const failureOf = (error: unknown): Failure =>
    error instanceof RequestError ? malformedRequest('The address is malformed', error) : asFailure(error)

  return (exchange) => {
    observer.began?.(exchange)
    const failure = inadmissible(exchange)
    if (failure !== undefined) return refuse(failure, exchange)
    const webhook = webhookTarget(exchange.path)
    if (webhookDomain !== undefined) {
      const isServed = isServedAt(exchange.incoming.headers.host, webhook, webhookDomain)
      if (isServed === false) return refuse(noSuchRoute(), exchange)
      exchange.isTeamHost = isServed === true
    }
    const preflight = crossOrigin?.preflight(exchange)
    if (preflight !== undefined) return send(exchange.outgoing, preflight)
    const headers = crossOrigin?.headersFor(exchange)
    if (headers !== undefined) for (const name in headers) exchange.outgoing.setHeader(name, headers[name] as string)
    const answered = webhook === undefined ? toRest(exchange) : webhooks.handle(exchange, webhook)
    answered.catch((error: unknown) => refuse(failureOf(error), exchange))
  }
}

function rethrow(error: unknown): never {
  throw error
}

const IDENTIFIER = /^[A-Za-z0-9._~-]{1,255}$/

/**
 * What a path of webhooks, `/api/{team}/webhooks/…`, names: `nothing` where it can name none; undefined for any other
 * path.
 */
export function webhookTarget(path: string): WebhookTarget | 'nothing' | undefined {
  if (!path.startsWith('/api/')) return undefined
  const teamEnd = path.indexOf('/', 5)
  if (!path.startsWith('/webhooks/', teamEnd)) return undefined
  const team = decoded(path.slice(5, teamEnd))
  const identifier = decoded(path.slice(teamEnd + '/webhooks/'.length))
  if (team === undefined || identifier === undefined) return 'nothing'
  return isTeamSlug(team) && IDENTIFIER.test(identifier) ? { team, identifier } : 'nothing'
}

function decoded(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

/**
 * Whether a host is one below the domain of webhooks, and serves a path of this target: the webhooks of the team that it
 * names, and nothing of anybody else. Undefined for any other host.
 */
function isServedAt(
  host: string | undefined,
  target: ReturnType<typeof webhookTarget>,
  domain: string,
): boolean | undefined {
  const name = (host ?? '').toLowerCase().replace(/\.?(?::\d*)?$/, '')
  if (!name.endsWith(`.${domain}`)) return undefined
  return typeof target === 'object' && target.team === name.slice(0, -domain.length - 1)
}
