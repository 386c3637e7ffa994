import type { IncomingMessage } from 'node:http'

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
  /** The `Authorization` header was for the gateway. */
  withoutAuthorization: boolean
  /** The connection is to become something else than HTTP. */
  upgrade: boolean
}

/** The headers of a request as they are passed on: name, value, name, value. */
export function requestHeaders(incoming: IncomingMessage, about: Forwarded): string[] {
  const kept = endToEnd(
    incoming,
    (name) => forwarded.test(name) || (about.withoutAuthorization && name === 'authorization'),
  )
  const { host = 'localhost', upgrade } = incoming.headers
  if (incoming.headers.host === undefined) kept.push('Host', host)
  kept.push('X-Forwarded-For', about.address, 'X-Forwarded-Proto', about.protocol, 'X-Forwarded-Host', host)
  if (about.prefix !== '') kept.push('X-Forwarded-Prefix', about.prefix)
  if (about.upgrade) kept.push('Connection', 'Upgrade', 'Upgrade', upgrade ?? '')
  else kept.push('Connection', 'close')
  // A body without a length goes on in chunks, whatever the method.
  if (incoming.headers['transfer-encoding'] !== undefined) kept.push('Transfer-Encoding', 'chunked')
  return kept
}

/** The headers of an answer as they are passed back. */
export function answerHeaders(answer: IncomingMessage): string[] {
  return endToEnd(answer, () => false)
}

function endToEnd({ rawHeaders, headers }: IncomingMessage, leftOut: (name: string) => boolean): string[] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
  const kept: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (hopByHop.has(name) || leftOut(name)) continue
    // What the application can't do without is no matter of the connection, whatever that says.
    if (named.has(name) && name !== 'host' && name !== 'content-length') continue
    kept.push(rawHeaders[at]!, rawHeaders[at + 1]!)
  }
  return kept
}
