import { getRequestListener, RequestError } from '@hono/node-server'
import { asFailure, type Failure } from '@automation/errors'
import type { Exchange } from './http/exchange.ts'
import { malformedRequest } from './http/refusals.ts'
import type { RestApi } from './rest/rest-api.ts'

/** Answers exchanges by the Hono app; rejects where that has no answer. */
export type RestEntry = (exchange: Exchange) => Promise<void>

/** The way of an exchange into the REST interface and to the pages beside it. */
export function restEntry(app: RestApi['app']): RestEntry {
  const exchanges = new WeakMap<object, Exchange>()
  const rest = getRequestListener(
    (request, { incoming }) => app.fetch(request, { exchange: exchanges.get(incoming) }),
    { hostname: 'localhost', autoCleanupIncoming: false, errorHandler: rethrow },
  )
  return (exchange) => {
    exchanges.set(exchange.incoming, exchange)
    const { outgoing, path } = exchange
    outgoing.setHeader('X-Request-Id', exchange.requestId)
    outgoing.setHeader('X-Content-Type-Options', 'nosniff')
    // What a team keeps is in no cache on the way, but where an answer says so itself: contents are asked for by their ETag.
    if (path.startsWith('/api/') || path.startsWith('/run')) outgoing.setHeader('Cache-Control', 'no-store')
    return rest(exchange.incoming, exchange.outgoing)
  }
}

/** What the way to an answer has failed with. */
export function failureOf(error: unknown): Failure {
  return error instanceof RequestError ? malformedRequest('The address is malformed', error) : asFailure(error)
}

function rethrow(error: unknown): never {
  throw error
}
