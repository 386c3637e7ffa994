import type { IncomingMessage, ServerResponse } from 'node:http'
import { Failure, invalid } from '@automation/errors'
import { readTraceparent } from '@automation/tracing'
import type { Identity } from '../auth/token-verifier.ts'
import { malformedRequest } from './refusals.ts'

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
  /** The caller's address, where it came on no connection. */
  ip: string | undefined
  executionId: string | undefined
  /**
   * Whom the service makes it for itself, with what of their rights: a run that it starts is held to its schema, and
   * a source that nobody would look at is not read. `isCounted`: with the request that it is made for. Undefined for what
   * came from outside.
   */
  onBehalf: { identity: Identity; scope: string; isCounted: boolean; withoutSource?: boolean | undefined } | undefined
  /** Whether it came to a host that one team has for itself. */
  isTeamHost = false
  /** Of its body, what counts towards the budget of all bodies. */
  bodyBytes = 0
  /** What its body takes of the share of a team or an address. */
  bodyShare: { end(): void } | undefined
  /** Of its answer, what its team's client has not taken; while the answer is on its way. */
  untakenBytes = 0
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
      const outer = this.#reject
      this.#reject = (reason) => {
        reject(reason)
        // Of work that this is a part of.
        outer?.(reason)
      }
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

/** Calls back when the answer is over, or its client gone; at once where it is already. */
export function whenOver({ outgoing }: Exchange, done: () => void): void {
  if (outgoing.destroyed) done()
  else outgoing.once('close', done)
}

/** Percent-encoded text as it reads; undefined where it is malformed. */
export function decodedPath(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
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

export type AnswerHeaders = Record<string, string | string[]>

/** A whole HTTP answer, decided but not yet written. An empty body writes no content type of its own. */
export interface Answer {
  status: number
  headers: AnswerHeaders
  body: string | Uint8Array
}

/** Writes an answer in one piece. Does nothing when the client has gone or something was answered already. */
export function send(outgoing: ServerResponse, answer: Answer): void {
  if (outgoing.headersSent || outgoing.destroyed) return
  const { status, headers, body } = answer
  if (status !== 204 && status !== 304)
    headers['Content-Length'] = String(typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength)
  outgoing.writeHead(status, headers)
  outgoing.end(body)
}

/** Why a request is refused whatever it asks for; undefined when it is not. */
export function inadmissible({ incoming }: Exchange): Failure | undefined {
  const { headers, rawHeaders } = incoming
  if (headers.host === undefined && incoming.httpVersion === '1.1')
    return malformedRequest('The Host header is missing')
  // RFC 9112, section 3.2: who reads another one than a proxy before it takes the request for another's.
  if (rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length > 1)
    return malformedRequest('The Host header must be given once')
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    return new Failure('invalid_argument', 'expectation_failed', 'Only Expect: 100-continue is understood')
  return undefined
}

/** A query as names and values; a repeated name has all its values. Names like `__proto__` are names like others. */
export type QueryRecord = Record<string, string | string[]>

/** The same of a query where `tags[]=a` stands for `tags=a`, as some clients write lists. */
export function listedQueryRecord(query: string): QueryRecord {
  const record = queryRecord(query)
  if (!('tags[]' in record)) return record
  const { 'tags[]': listed, ...others } = record
  return { ...others, tags: [others['tags'] ?? [], listed ?? []].flat() }
}

/** Reads an encoded query (without the question mark) or form. Failure: too_many_fields. */
export function queryRecord(query: string): QueryRecord {
  const record = Object.create(null) as QueryRecord
  if (query === '') return record
  formPairs(query, (name, value) => {
    const known = record[name]
    if (known === undefined) record[name] = value
    else if (typeof known === 'string') record[name] = [known, value]
    else known.push(value)
  })
  return record
}

// More than any form of people has; each costs memory beyond its bytes.
const MAX_PAIRS = 10_000
const AMPERSAND = 0x26
const PLUS = 0x2b
const PERCENT = 0x25
const EQUALS = 0x3d
const SPACE = 0x20

/**
 * Tells `each` of the names and values of an application/x-www-form-urlencoded text, such as a query without its
 * question mark. Takes time in proportion to the text, which URLSearchParams does not. Failure: too_many_fields.
 */
function formPairs(text: string, each: (name: string, value: string) => void): void {
  let pairs = 0
  let from = 0
  let equals = -1
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? AMPERSAND : text.charCodeAt(at)
    if (code === EQUALS && equals === -1) equals = at
    if (code !== AMPERSAND) continue
    if (at > from) {
      if (++pairs > MAX_PAIRS) throw invalid('', `The form has more than ${MAX_PAIRS} fields`, 'too_many_fields')
      if (equals === -1) each(decoded(text.slice(from, at)), '')
      else each(decoded(text.slice(from, equals)), decoded(text.slice(equals + 1, at)))
    }
    from = at + 1
    equals = -1
  }
}

/** What is no percent-encoding stays as it is, what is no UTF-8 becomes U+FFFD. */
function decoded(text: string): string {
  if (!/[%+]/.test(text)) return text
  const bytes = Buffer.from(text)
  const { length } = bytes
  let to = 0
  for (let at = 0; at < length; at++) {
    let byte = bytes[at] as number
    if (byte === PLUS) byte = SPACE
    else if (byte === PERCENT && at + 2 < length) {
      const high = HEX[bytes[at + 1] as number] as number
      const low = HEX[bytes[at + 2] as number] as number
      if (high < 16 && low < 16) {
        byte = high * 16 + low
        at += 2
      }
    }
    bytes[to++] = byte
  }
  return bytes.toString('utf8', 0, to)
}

/** The value of each character that is a hexadecimal digit; 255 for others. */
const HEX = new Uint8Array(256).fill(255)
for (let digit = 0; digit < 16; digit++) {
  const text = digit.toString(16)
  HEX[text.charCodeAt(0)] = HEX[text.toUpperCase().charCodeAt(0)] = digit
}
