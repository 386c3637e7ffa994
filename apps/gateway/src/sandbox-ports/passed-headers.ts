import type { IncomingMessage } from 'node:http'
import { withoutSessionCookie } from '../http/session-cookie.ts'
import { isOriginWide } from '../http/origin-wide-headers.ts'
import { hostCookie, type OwnCookies } from './own-cookies.ts'

/** What belongs to one connection alone (RFC 9110), and what is made anew for the next one. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
])

const forwarded = /^(?:forwarded|x-forwarded-.*)$/

/** What the application learns of the client's own connection. */
export interface Forwarded {
  address: string
  protocol: string
  prefix: string
  /** Of ours, for the application's request and its answer, whatever it says itself. */
  requestId: string
  /** The `Authorization` header was for the gateway, or may be for another sandbox. */
  withoutAuthorization: boolean
  /** Where all sandboxes share an origin: those of this one; undefined for a host per sandbox. */
  cookies: OwnCookies | undefined
  /** The connection is to become something else than HTTP. */
  upgrade: boolean
}

/** The headers of a request as they are passed on: name, value, name, value. */
export function requestHeaders(incoming: IncomingMessage, about: Forwarded): string[] {
  const kept = endToEnd(
    incoming,
    (name) =>
      forwarded.test(name) || name === 'x-request-id' || (about.withoutAuthorization && name === 'authorization'),
    (name, value) => (name === 'cookie' ? receivedCookies(value, about) : value),
  )
  const { host = 'localhost', upgrade } = incoming.headers
  if (incoming.headers.host === undefined) kept.push('Host', host)
  kept.push('X-Forwarded-For', about.address, 'X-Forwarded-Proto', about.protocol, 'X-Forwarded-Host', host)
  kept.push('X-Request-Id', about.requestId)
  if (about.prefix !== '') kept.push('X-Forwarded-Prefix', about.prefix)
  if (about.upgrade) kept.push('Connection', 'Upgrade', 'Upgrade', upgrade ?? '')
  else kept.push('Connection', 'close')
  // A body without a length goes on in chunks, whatever the method.
  if (incoming.headers['transfer-encoding'] !== undefined) kept.push('Transfer-Encoding', 'chunked')
  return kept
}

function receivedCookies(header: string, { cookies }: Forwarded): string {
  return cookies === undefined ? withoutSessionCookie(header) : cookies.received(header)
}

/** The headers of an answer as they are passed back. What would act on the origin is left out where others share it. */
export function answerHeaders(answer: IncomingMessage, { cookies, requestId }: Forwarded): string[] {
  const kept = endToEnd(
    answer,
    (name) => name === 'x-request-id' || (cookies !== undefined && isOriginWide(name)),
    (name, value) => {
      if (name !== 'set-cookie') return value
      return cookies === undefined ? hostCookie(value) : cookies.sent(value)
    },
  )
  kept.push('X-Request-Id', requestId)
  return kept
}

/** `changed` gives a value as it is passed on; empty for a header that has nothing to say then. */
function endToEnd(
  { rawHeaders, headers }: IncomingMessage,
  leftOut: (name: string) => boolean,
  changed: (name: string, value: string) => string,
): string[] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
  const kept: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (hopByHop.has(name) || leftOut(name)) continue
    // What the application can't do without is no matter of the connection, whatever that says.
    if (named.has(name) && name !== 'host' && name !== 'content-length') continue
    const given = rawHeaders[at + 1]!
    const value = changed(name, given)
    if (value !== '' || given === '') kept.push(rawHeaders[at]!, value)
  }
  return kept
}
