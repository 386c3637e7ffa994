import type { Failure } from '@automation/errors'
import type { PartContext, Registry } from '@automation/service'
import type { Span, Tracer } from '@automation/tracing'
import { Counter, Gauge, Histogram } from 'prom-client'
import type { Exchange } from './http/exchange.ts'

/** What requests to public ports of sandboxes are counted under. */
export const sandboxRoute = 'sandbox port'

// Callers make up methods, and process code and applications statuses; each series is kept for ever.
const countedMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const countedStatuses = new Set([
  ...[
    200, 201, 202, 204, 206, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413,
  ],
  ...[414, 415, 416, 417, 422, 426, 428, 429, 431, 499, 500, 501, 502, 503, 504, 505, 507],
])

/** What operators see of the gateway's work: a metric and a span for each request, and logs. */
export interface Observer {
  /** An exchange begins; absent where nobody wants to know. */
  began: ((exchange: Exchange) => void) | undefined
  /** An exchange is over. */
  ended(exchange: Exchange): void
  /** A failure is about to be answered. */
  failed(failure: Failure, exchange: Exchange): void
}

/**
 * Logs and measures requests. The metrics are `gateway_request_duration_seconds{method,route,status}` and
 * `gateway_failures_total{route,code}`.
 */
export function observer({ logger, metrics, tracer }: Pick<PartContext, 'logger' | 'metrics' | 'tracer'>): Observer {
  const spans = tracer && new RequestSpans(tracer)
  const durations = new Histogram({
    name: 'gateway_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [metrics],
  })
  const failures = new Counter({
    name: 'gateway_failures_total',
    help: 'Requests that were refused by a fault of the system, not of the caller or of process code',
    labelNames: ['route', 'code'],
    registers: [metrics],
  })
  // Finding the series by its labels costs more than adding to it.
  const series = new Map<string, { observe(seconds: number): void }>()

  return {
    began: spans && ((exchange) => spans.began(exchange)),
    ended(exchange) {
      const { route, startedAt, incoming, outgoing } = exchange
      const ms = performance.now() - startedAt
      const status = outgoing.headersSent ? outgoing.statusCode : 499
      const method = countedMethods.has(incoming.method ?? '') ? incoming.method! : 'OTHER'
      const isCounted = route !== sandboxRoute && countedStatuses.has(status)
      const countedStatus = isCounted ? String(status) : `${Math.floor(status / 100)}xx`
      const key = `${method} ${countedStatus} ${route}`
      let one = series.get(key)
      if (one === undefined) {
        one = durations.labels({ method, route: route || 'none', status: countedStatus })
        series.set(key, one)
      }
      one.observe(ms / 1000)
      if (logger.isLevelEnabled('debug')) logger.debug({ ...ids(exchange), path: exchange.path, status, ms }, 'request')
      spans?.ended(exchange, status)
    },
    failed(failure, exchange) {
      if (isFaultOfTheSystem(failure)) failures.inc({ route: exchange.route || 'none', code: failure.code })
      if (failure.kind === 'internal')
        logger.error({ ...ids(exchange), err: failure.cause ?? failure }, failure.message)
      else if (isOfTheSystem(failure)) logger.warn({ ...ids(exchange), err: failure.cause }, failure.message)
      else if (logger.isLevelEnabled('debug'))
        logger.debug({ ...ids(exchange), code: failure.code, err: failure.cause }, failure.message)
    },
  }
}

/** Shows what is held of what there may be, read when somebody looks. */
export function showHeld(metrics: Registry, held: { bodyBytes: () => number; connections: () => number }): void {
  const show = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [metrics],
      collect() {
        this.set(read())
      },
    })
  show('gateway_body_bytes', 'What request bodies hold of their budget', held.bodyBytes)
  show(
    'gateway_connections',
    'Connections that are open, of 10,000 or half of the files that the process may open',
    held.connections,
  )
}

const codesOfTheSystem = new Set(['unavailable', 'deadline_exceeded', 'stopping', 'object_store_full'])

/** Whether the caller, his process and his sandbox have no part in it. */
function isFaultOfTheSystem({ kind, code }: Failure): boolean {
  return kind === 'internal' || codesOfTheSystem.has(code)
}

/** Whether a part of the system is what does not answer. */
function isOfTheSystem({ code, cause }: Failure): boolean {
  return (code === 'unavailable' || code === 'deadline_exceeded') && cause !== undefined
}

function ids({ requestId, team, executionId, incoming, route }: Exchange) {
  return { requestId, team, executionId, method: incoming.method, route }
}

const unobserved = new Set(['/livez', '/readyz'])

/** A span for each request but those of operations; it continues the caller's trace. */
class RequestSpans {
  readonly #tracer: Tracer
  readonly #spans = new WeakMap<Exchange, Span>()

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  began(exchange: Exchange): void {
    if (unobserved.has(exchange.path)) return
    const { traceparent: parent, requestId } = exchange
    const attributes = { 'automation.request.id': requestId }
    const span = this.#tracer.start('HTTP', { kind: 'server', parent, attributes })
    exchange.traceparent = span.traceparent
    this.#spans.set(exchange, span)
  }

  ended(exchange: Exchange, status: number): void {
    const { route, incoming, team, executionId } = exchange
    // Never the path itself: what is in it is the client's.
    const name = `${incoming.method ?? ''} ${route || 'none'}`
    const attributes = {
      'http.request.method': incoming.method,
      'http.route': route || undefined,
      'http.response.status_code': status,
      'automation.team': team || undefined,
      'automation.execution.id': executionId,
    }
    const isFault = status >= 500
    this.#spans.get(exchange)?.end({ name, attributes, failure: isFault ? String(status) : undefined, isFault })
  }
}
