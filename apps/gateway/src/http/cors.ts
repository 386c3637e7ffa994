import type { Answer, AnswerHeaders, Exchange } from './exchange.ts'

/** Cross-origin rules of this gateway: which browsers' pages may call it. */
interface Cors {
  /** Headers for an ordinary answer; undefined when the request asks for none. */
  headersFor(exchange: Exchange): AnswerHeaders | undefined
  /** The answer to a preflight, or undefined when the request is none or comes from an origin that is not allowed. */
  preflight(exchange: Exchange): Answer | undefined
}

/** `origins` may hold `*`. `exposed` are response headers that pages may read. */
export function cors(origins: string[], exposed: string[]): Cors {
  const anyone = origins.includes('*')
  const allowed = new Set(origins)
  const exposedHeaders = exposed.join(', ')

  const headersFor = (exchange: Exchange): AnswerHeaders | undefined => {
    const { origin } = exchange.incoming.headers
    if (origin === undefined) return anyone ? undefined : { Vary: 'Origin' }
    if (anyone) return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': exposedHeaders }
    if (!allowed.has(origin)) return { Vary: 'Origin' }
    return {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': exposedHeaders,
      Vary: 'Origin',
    }
  }

  const preflight = (exchange: Exchange): Answer | undefined => {
    const { headers, method } = exchange.incoming
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return undefined
    const granted = headersFor(exchange)
    if (granted?.['Access-Control-Allow-Origin'] === undefined) return undefined
    const answer: AnswerHeaders = {
      ...granted,
      'X-Request-Id': exchange.requestId,
      'Access-Control-Allow-Methods': 'GET, POST, PATCH, PUT, DELETE, OPTIONS',
      'Access-Control-Max-Age': '600',
      Vary: 'Origin, Access-Control-Request-Headers',
    }
    const wanted = headers['access-control-request-headers']
    if (wanted !== undefined) answer['Access-Control-Allow-Headers'] = wanted
    return { status: 204, headers: answer, body: '' }
  }

  return { headersFor, preflight }
}
