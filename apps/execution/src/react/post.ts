import { request as requestHttp, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Egress } from './egress.ts'
import type { Lookup } from './look-up.ts'
import { NotAllowed, resolveAllowed } from './look-up.ts'

interface Post {
  url: string
  /** JSON. */
  body: Buffer
  headers: Record<string, string>
  egress: Egress
  /** Where a name has several addresses, each turn takes the next. */
  turn: number
  /** For everything, from the look-up on. */
  timeoutMs: number
  signal: AbortSignal
  lookup?: Lookup
}

/** `final`: trying again is of no use. The reason is a text for the owner of the run. */
export type PostResult = { ok: true } | { ok: false; final: boolean; reason: string }

/**
 * Posts to an address that anybody may have written down: the name is looked up once, every address of it must be
 * allowed, and the connection goes to exactly that address. Redirects are not followed, bodies not read.
 */
export async function post({ url, body, headers, egress, turn, timeoutMs, signal, lookup }: Post): Promise<PostResult> {
  const deadline = AbortSignal.timeout(timeoutMs)
  const both = AbortSignal.any([deadline, signal])
  try {
    const target = new URL(url)
    const addresses = await resolveAllowed(target.hostname, egress, both, lookup)
    const address = addresses[turn % addresses.length]!
    return judge(await send(target, address, body, headers, both))
  } catch (error) {
    if (error instanceof NotAllowed) return { ok: false, final: true, reason: error.message }
    if (deadline.aborted) return { ok: false, final: false, reason: `no answer within ${timeoutMs} ms` }
    return { ok: false, final: false, reason: reasonOf(error) }
  }
}

function judge(status: number): PostResult {
  if (status >= 200 && status < 300) return { ok: true }
  if (status >= 300 && status < 400)
    return { ok: false, final: false, reason: `the receiver answered ${status}, and redirects are not followed` }
  return { ok: false, final: status === 410, reason: `the receiver answered ${status}` }
}

async function send(
  target: URL,
  address: string,
  body: Buffer,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<number> {
  const hostname = bare(target.hostname)
  const options: RequestOptions & { servername?: string } = {
    method: 'POST',
    host: address,
    port: target.port || (target.protocol === 'https:' ? 443 : 80),
    path: `${target.pathname}${target.search}`,
    headers: {
      Host: target.host,
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      'User-Agent': 'process-automation-callback',
      ...headers,
    },
    // A connection of its own, and no proxy of the environment: what was checked is what is reached.
    agent: false,
    signal,
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
  }
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const sent: ClientRequest = target.protocol === 'https:' ? requestHttps(options) : requestHttp(options)
  sent.on('error', reject)
  // One that changes the protocol gives no response, nor an error: without a listener its connection is just closed.
  sent.on('upgrade', (response: IncomingMessage, socket: Duplex) => {
    resolve(response.statusCode ?? 0)
    socket.destroy()
  })
  // After any of the others it changes nothing.
  sent.on('close', () => reject(Object.assign(new Error('closed without an answer'), { code: 'ECONNRESET' })))
  sent.on('response', (response: IncomingMessage) => {
    resolve(response.statusCode ?? 0)
    response.destroy()
  })
  sent.end(body)
  return promise
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}

const reasons: Record<string, string> = {
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name could not be looked up',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  EHOSTUNREACH: 'it could not be reached',
  ENETUNREACH: 'it could not be reached',
  ETIMEDOUT: 'it could not be reached',
}

function reasonOf(error: unknown): string {
  const { code } = error as { code?: unknown }
  const name = typeof code === 'string' ? code : ''
  return reasons[name] ?? (/CERT|TLS|SSL|SIGNATURE/.test(name) ? 'its certificate is not accepted' : 'it failed')
}
