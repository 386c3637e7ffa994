import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Failure } from '@automation/errors'
import { readTraceparent } from '@automation/tracing'

/** One request and its answer to be, with what every handler needs to know of them. */
export class Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly requestId: string
  /** Still percent-encoded, without the query. */
  readonly path: string
  /** Still percent-encoded, without the question mark; empty when there is none. */
  readonly query: string
  readonly startedAt = performance.now()
  /** What the request is counted under: the route's template, never the path itself. */
  route = ''
  team = ''
  executionId: string | undefined
  /** Whether it came to a host that one team has for itself. */
  isTeamHost = false
  /** Of its body, what counts towards the budget of all bodies. */
  bodyBytes = 0
  /** What its body takes of the share of a team or an address. */
  bodyShare: { end(): void } | undefined
  /** It was answered, or its client has gone. */
  isOver = false
  /** W3C: of the caller, or of the span for this request. */
  traceparent: string | undefined
  #controller: AbortController | undefined
  #reject: ((reason: Failure) => void) | undefined
  #abandoned: Failure | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    this.incoming = incoming
    this.outgoing = outgoing
    this.requestId = requestIdFrom(incoming.headers['x-request-id'])
    this.traceparent = traceparentFrom(incoming.headers['traceparent'])
    const target = originForm(incoming.url ?? '/')
    const mark = target.indexOf('?')
    this.path = mark === -1 ? target : target.slice(0, mark)
    this.query = mark === -1 ? '' : target.slice(mark + 1)
  }

  /** Aborted when the request is abandoned; made only when somebody looks at it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#abandoned !== undefined) this.#controller.abort(this.#abandoned)
    }
    return this.#controller.signal
  }

  /** The result of the work, or the failure that the request is abandoned with before it is there. */
  settle<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#abandoned !== undefined) reject(this.#abandoned)
      this.#reject = reject
      work.then(resolve, reject)
    })
  }

  /** Gives the request up: its client went away, or the gateway stops. */
  abandon(failure: Failure): void {
    this.#abandoned ??= failure
    this.#controller?.abort(failure)
    this.#reject?.(failure)
  }
}

/** `http://host/path` as a request target (absolute form) means the same as `/path`. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const authority = /^https?:\/\/[^/?#]*/i.exec(target)
  if (authority === null) return target
  const rest = target.slice(authority[0].length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

const SANE = /^[A-Za-z0-9._:-]{1,128}$/

/** The caller's request id when it is safe to repeat and to log, else a new one. */
function requestIdFrom(given: string | string[] | undefined): string {
  return typeof given === 'string' && SANE.test(given) ? given : crypto.randomUUID()
}

/** The caller's W3C trace context when it is well formed. */
function traceparentFrom(given: string | string[] | undefined): string | undefined {
  return typeof given === 'string' && readTraceparent(given) !== undefined ? given : undefined
}
