import { isUtf8 } from 'node:buffer'
import type { CallContext, Principal } from '@automation/rpc'
import type { ClientAddress } from './client-address.ts'
import type { Exchange } from './exchange.ts'

/** The context of the calls that answer one exchange. */
export function callContext(exchange: Exchange, principal: Principal, timeoutMs: number): CallContext {
  return new ExchangeContext(exchange, principal, Date.now() + timeoutMs)
}

/** A class, because a getter in an object literal makes a hidden class of its own for each object, which lives on. */
class ExchangeContext implements CallContext {
  readonly principal: Principal
  readonly requestId: string
  readonly traceparent: string | undefined
  readonly deadlineMs: number
  readonly #exchange: Exchange

  constructor(exchange: Exchange, principal: Principal, deadlineMs: number) {
    this.principal = principal
    this.requestId = exchange.requestId
    this.traceparent = exchange.traceparent
    this.deadlineMs = deadlineMs
    this.#exchange = exchange
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }
}

/** The address that an exchange came from. */
export function addressOf(exchange: Exchange, clientAddress: ClientAddress): string {
  return clientAddress(exchange.incoming.socket.remoteAddress, exchange.incoming.headers['x-forwarded-for'])
}

/**
 * A header's value as text: what was sent as UTF-8 is read so (Node reads Latin-1), an empty value counts as absent.
 */
export function headerText(exchange: Exchange, lowerName: string): string | undefined {
  const value = exchange.incoming.headers[lowerName]
  if (value === undefined || value === '') return undefined
  const text = typeof value === 'string' ? value : value.join(', ')
  if (isAscii(text)) return text
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : text
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false
  return true
}

export interface Credentials {
  username: string
  password: string
}

/** The credentials of an `Authorization: Basic` header; undefined when there are none that can be read. */
export function basicCredentials(header: string | undefined): Credentials | undefined {
  if (header === undefined || !isBasic(header)) return undefined
  const text = Buffer.from(header.slice(6).trim(), 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon === -1 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) }
}

function isBasic(header: string): boolean {
  return header.length > 6 && header.slice(0, 6).toLowerCase() === 'basic '
}
