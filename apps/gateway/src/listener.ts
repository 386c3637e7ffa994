import { isTeamSlug } from '@automation/contract/forms'
import type { Failure } from '@automation/errors'
import type { GatewayConfig } from './config.ts'
import { decodedPath, inadmissible, send, type Exchange } from './http/exchange.ts'
import { cors } from './http/cors.ts'
import { problemAnswer } from './http/problem.ts'
import { noSuchRoute } from './http/refusals.ts'
import { dropSessionCookie } from './http/session-cookie.ts'
import type { Observer } from './observe.ts'
import { failureOf, type RestEntry } from './rest-entry.ts'
import type { WebhookTarget } from './webhooks/webhook-call.ts'
import type { WebhookEntry } from './webhooks/webhook-entry.ts'

interface ListenerDependencies {
  config: GatewayConfig
  rest: RestEntry
  webhooks: WebhookEntry
  observer: Observer
  /** Where people are at home; undefined where there is no console. */
  consoleUrl: () => string | undefined
}

/** What happens to each request: webhooks go straight to their entry, all else through the Hono app. */
export function listener({
  config,
  rest,
  webhooks,
  observer,
  consoleUrl,
}: ListenerDependencies): (exchange: Exchange) => void {
  const { webhookDomain } = config
  const isOfThisMachine = isLoopback(new URL(config.publicUrl).hostname)
  const executionIdHeader = `${config.headerPrefix}Execution-ID`
  const exposed = [
    executionIdHeader,
    'X-Request-Id',
    'Location',
    'Idempotency-Replayed',
    'Retry-After',
    'ETag',
    // Of MCP: clients in pages of CORS_ORIGINS send the first back, and learn from the second where to sign in.
    'Mcp-Session-Id',
    'WWW-Authenticate',
  ]
  const crossOrigin = config.corsOrigins.length === 0 ? undefined : cors(config.corsOrigins, exposed)

  const refuse = (failure: Failure, exchange: Exchange): void => {
    observer.failed(failure, exchange)
    const { requestId, path } = exchange
    send(exchange.outgoing, problemAnswer(failure, { requestId, path, executionIdHeader }))
  }

  return (exchange) => {
    observer.began?.(exchange)
    const failure = inadmissible(exchange)
    if (failure !== undefined) return refuse(failure, exchange)
    dropSessionCookie(exchange.incoming)
    const webhook = webhookTarget(exchange.path)
    if (webhookDomain !== undefined) {
      const isServed = isServedAt(exchange.incoming.headers.host, webhook, webhookDomain)
      if (isServed === false) return refuse(noSuchRoute(), exchange)
      exchange.isTeamHost = isServed === true
    }
    const home =
      exchange.path === '/' && asksForPage(exchange) ? reached(consoleUrl(), exchange, isOfThisMachine) : undefined
    if (home !== undefined) return send(exchange.outgoing, { status: 302, headers: toHome(home, exchange), body: '' })
    const preflight = crossOrigin?.preflight(exchange)
    if (preflight !== undefined) return send(exchange.outgoing, preflight)
    const headers = crossOrigin?.headersFor(exchange)
    if (headers !== undefined) for (const name in headers) exchange.outgoing.setHeader(name, headers[name] as string)
    const answered = webhook === undefined ? rest(exchange) : webhooks.handle(exchange, webhook)
    answered.catch((error: unknown) => refuse(failureOf(error), exchange))
  }
}

/** Whether a browser asks, for a page to look at. */
function asksForPage({ incoming }: Exchange): boolean {
  const { method, headers } = incoming
  return (method === 'GET' || method === 'HEAD') && /\btext\/html\b/i.test(headers.accept ?? '')
}

function toHome(url: string, { requestId }: Exchange): Record<string, string> {
  return { Location: `${url}/`, 'Cache-Control': 'no-store', Vary: 'Accept', 'X-Request-Id': requestId }
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
  const team = decodedPath(path.slice(5, teamEnd))
  const identifier = decodedPath(path.slice(teamEnd + '/webhooks/'.length))
  if (team === undefined || identifier === undefined) return 'nothing'
  return isTeamSlug(team) && IDENTIFIER.test(identifier) ? { team, identifier } : 'nothing'
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

/**
 * The console's address for a browser; undefined where it is on the machine of the service and the browser may be elsewhere:
 * a proxy before a public address may name this machine as the host.
 */
function reached(consoleUrl: string | undefined, { incoming }: Exchange, isOfThisMachine: boolean): string | undefined {
  if (consoleUrl === undefined || !isLoopback(new URL(consoleUrl).hostname)) return consoleUrl
  return isOfThisMachine && isLoopback((incoming.headers.host ?? '').replace(/:\d*$/, '')) ? consoleUrl : undefined
}

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/i.test(host)
