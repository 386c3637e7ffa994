import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import type { CallContext, Principal } from '@automation/rpc'
import type { Exchange } from './exchange.ts'

/** Says where a request comes from: its connection's address, and what the connection says was forwarded for. */
export type ClientAddress = (remote: string | undefined, forwardedFor: string | string[] | undefined) => string

/**
 * Believes X-Forwarded-For only from the given proxies (addresses or CIDRs): the client is the last address in it that is
 * no trusted proxy itself.
 */
export function clientAddress(trustedProxies: string[]): ClientAddress {
  if (trustedProxies.length === 0) return (remote) => plain(remote)
  const trusted = blockList(trustedProxies)
  return (remote, forwardedFor) => {
    const hops = [...String(forwardedFor ?? '').split(','), remote ?? '']
      .map((hop) => plain(withoutPort(hop.trim())))
      .filter(Boolean)
    while (hops.length > 1 && isTrusted(trusted, hops.at(-1) as string)) hops.pop()
    const client = hops.at(-1) ?? ''
    return isIP(client) === 0 ? plain(remote) : client
  }
}

/** The address of a hop to which a proxy has added the port: `192.0.2.1:5000`, `[2001:db8::1]:5000`. */
const withoutPort = (hop: string) => hop.replace(/^(?:\[([^\]]*)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+)$/, '$1$2')

/** Says whether an address is one that many clients come from: a trusted proxy, or one on this machine. */
export function proxies(trustedProxies: string[]): (address: string) => boolean {
  const list = blockList([...trustedProxies, '127.0.0.0/8', '::1'])
  return (address) => isTrusted(list, plain(address))
}

/**
 * What one client is counted under: its address, of IPv6 the first 64 bits, since a client is given all the others to
 * choose from.
 */
export function clientKey(address: string): string {
  const own = plain(address)
  if (isIP(own) !== 6) return own
  const [head = '', tail] = own.split('::')
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const between = tail === undefined ? 0 : 8 - before.length - after.length
  const groups = [...before, ...Array.from({ length: between }, () => 0), ...after]
  // An IPv4 address written in hex.
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) return own
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** Numbers of a part of an IPv6 address; an IPv4 address at its end counts as two. */
function groupsOf(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => (group.includes('.') ? [0, 0] : [parseInt(group, 16)]))
}

/** Throws a RangeError that names the first entry that is neither an address nor a CIDR. */
export function blockList(entries: string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', prefix, ...more] = entry.split('/')
    const family = isIP(address)
    const all = family === 6 ? 128 : 32
    const bits = prefix === undefined ? all : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Infinity
    if (family === 0 || bits > all || more.length > 0) throw new RangeError(entry)
    list.addSubnet(address, bits, family === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

function isTrusted(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** Without the prefix of an IPv4 address in IPv6, and without a zone, which means something on one machine alone. */
function plain(address: string | undefined): string {
  if (address === undefined) return ''
  return address.replace(/^::ffff:|%.*$/g, '')
}

/** By what the client has called the first of the proxies, where those are believed that say so. */
export function forwardedProtocol({ headers }: IncomingMessage, isBelieved: boolean): 'http' | 'https' {
  const [first = ''] = String(headers['x-forwarded-proto'] ?? '').split(',')
  return isBelieved && first.trim().toLowerCase() === 'https' ? 'https' : 'http'
}

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
export function addressOf({ ip, incoming }: Exchange, clientAddress: ClientAddress): string {
  return ip ?? clientAddress(incoming.socket.remoteAddress, incoming.headers['x-forwarded-for'])
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
