import type { Span, Tracer } from '@automation/tracing'
import type { Exchange } from './http/exchange.ts'

/** Spans of requests. */
export interface RequestSpans {
  began(exchange: Exchange): void
  ended(exchange: Exchange): void
}

const untold = new Set(['/livez', '/readyz'])

/** A span for each request but those of operations; it continues the caller's trace. Undefined without a tracer. */
export function requestSpans(tracer: Tracer | undefined): RequestSpans | undefined {
  if (tracer === undefined) return undefined
  const spans = new WeakMap<Exchange, Span>()
  return {
    began(exchange) {
      if (untold.has(exchange.path)) return
      const { traceparent: parent, requestId } = exchange
      const span = tracer.start('HTTP', { kind: 'server', parent, attributes: { 'automation.request.id': requestId } })
      exchange.traceparent = span.traceparent
      spans.set(exchange, span)
    },
    ended(exchange) {
      const { route, incoming, outgoing, team, executionId } = exchange
      const status = outgoing.headersSent ? outgoing.statusCode : 499
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
      spans.get(exchange)?.end({ name, attributes, failure: isFault ? String(status) : undefined, isFault })
    },
  }
}
