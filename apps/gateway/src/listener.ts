import { asFailure, type Failure } from '@automation/errors'
import { getRequestListener, RequestError } from '@hono/node-server'
import type { GatewayConfig } from './config.ts'
import { send } from './http/answer.ts'
import { cors } from './http/cors.ts'
import type { Exchange } from './http/exchange.ts'
import { problemAnswer } from './http/problem.ts'
import { inadmissible, malformedRequest, noSuchRoute } from './http/refusals.ts'
import type { RestApi } from './rest/rest-api.ts'
import { isServedAt, webhookTarget } from './webhooks/target.ts'
import type { WebhookEntry } from './webhooks/webhook-entry.ts'

export interface ListenerDependencies {
  config: GatewayConfig
  app: RestApi['app']
  webhooks: WebhookEntry
  /** Is told of every failure that a caller is answered with. */
  report: (failure: Failure, exchange: Exchange) => void
}

/** What happens to each request: webhooks go straight to their entry, all else through the Hono app. */
export function listener({ config, app, webhooks, report }: ListenerDependencies): (exchange: Exchange) => void {
  const { webhookDomain } = config
  const executionIdHeader = `${config.headerPrefix}Execution-ID`
  const exposed = [executionIdHeader, 'X-Request-Id', 'Location', 'Idempotency-Replayed', 'Retry-After']
  const { preflight, headersFor } = cors(config.corsOrigins, exposed)
  const exchanges = new WeakMap<object, Exchange>()
  const rest = getRequestListener(
    (request, { incoming }) => app.fetch(request, { exchange: exchanges.get(incoming) }),
    { hostname: 'localhost', autoCleanupIncoming: false, errorHandler: rethrow },
  )

  const refuse = (failure: Failure, exchange: Exchange): void => {
    report(failure, exchange)
    const { requestId, path } = exchange
    send(exchange.outgoing, problemAnswer(failure, { requestId, path, executionIdHeader }))
  }

  const toRest = (exchange: Exchange): Promise<void> => {
    exchanges.set(exchange.incoming, exchange)
    const { outgoing, path } = exchange
    outgoing.setHeader('X-Request-Id', exchange.requestId)
    outgoing.setHeader('X-Content-Type-Options', 'nosniff')
    // What a team keeps is in no cache on the way, but where an answer says so itself: contents are asked for by their ETag.
    if (path.startsWith('/api/')) outgoing.setHeader('Cache-Control', 'no-store')
    return rest(exchange.incoming, exchange.outgoing)
  }

  const failureOf = (error: unknown): Failure =>
    error instanceof RequestError ? malformedRequest('The address is malformed', error) : asFailure(error)

  return (exchange) => {
    const failure = inadmissible(exchange)
    if (failure !== undefined) return refuse(failure, exchange)
    const webhook = webhookTarget(exchange.path)
    if (webhookDomain !== undefined) {
      const isServed = isServedAt(exchange.incoming.headers.host, webhook, webhookDomain)
      if (isServed === false) return refuse(noSuchRoute(), exchange)
      exchange.isTeamHost = isServed === true
    }
    const answer = preflight(exchange)
    if (answer !== undefined) return send(exchange.outgoing, answer)
    const headers = headersFor(exchange)
    if (headers !== undefined) for (const name in headers) exchange.outgoing.setHeader(name, headers[name] as string)
    const answered = webhook === undefined ? toRest(exchange) : webhooks.handle(exchange, webhook)
    answered.catch((error: unknown) => refuse(failureOf(error), exchange))
  }
}

function rethrow(error: unknown): never {
  throw error
}
