import { BlockList, isIP } from 'node:net'
import type { Environment } from '@automation/service'

const private4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const
const private6 = [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  ['64:ff9b:1::', 48],
] as const

/** Which addresses lie beyond the public internet, and which of them are allowed all the same. */
export class Egress {
  readonly #private = new BlockList()
  readonly #allowed = new BlockList()

  /** `allow`: addresses and CIDRs, as `readExecutionConfig` has checked them. */
  constructor(allow: string[]) {
    for (const [address, bits] of private4) this.#private.addSubnet(address, bits, 'ipv4')
    for (const [address, bits] of private6) this.#private.addSubnet(address, bits, 'ipv6')
    for (const cidr of allow) addTo(this.#allowed, cidr)
  }

  /** Whether a host of a URL may be reached, as far as its text tells: names are looked up at delivery. */
  allows(hostname: string): boolean {
    const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
    const family = isIP(host)
    if (family === 0) return !isLocalName(host) || this.#allowed.check('127.0.0.1', 'ipv4')
    // URL parsing writes ::ffff:10.0.0.1 as ::ffff:a00:1; as a list of IPv4 addresses BlockList knows both.
    const type = family === 4 ? 'ipv4' : 'ipv6'
    const embedded = family === 6 ? embedded4(host) : undefined
    if (embedded !== undefined) return this.allows(embedded)
    return !this.#private.check(host, type) || this.#allowed.check(host, type)
  }
}

/** Notes a fault for each entry that is no address and no CIDR. */
export function checkEgressAllow(env: Environment, entries: string[]): string[] {
  return entries.filter((entry) => {
    const [address = '', bits] = entry.split('/')
    const family = isIP(address)
    const most = family === 4 ? 32 : 128
    const right = family !== 0 && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= most))
    if (!right) env.fault('EGRESS_ALLOW', `has ${JSON.stringify(entry)}, which is no address and no CIDR`)
    return right
  })
}

function addTo(list: BlockList, cidr: string): void {
  const [address = '', bits] = cidr.split('/')
  const type = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  if (bits === undefined) list.addAddress(address, type)
  else list.addSubnet(address, Number(bits), type)
}

function isLocalName(host: string): boolean {
  const name = host.replace(/\.$/, '')
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === 'metadata.google.internal' || name === 'metadata'
  )
}

/** The IPv4 address in a mapped, compatible or NAT64 IPv6 address, as URL parsing writes it. */
function embedded4(host: string): string | undefined {
  const match = /^(?:::ffff:|::|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host)
  if (match === null) return undefined
  const [high, low] = [parseInt(match[1]!, 16), parseInt(match[2]!, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
