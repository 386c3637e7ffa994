import { BlockList, isIP } from 'node:net'
import type { Environment } from '@automation/service'

const private4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // The metadata of one cloud, on a public address.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
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
  // Tunnels, translations and documentation: none leads to a receiver, and some lead inside.
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
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

  /**
   * Whether a host of a URL or an address may be reached, as far as its text tells: names are looked up at delivery,
   * and what they lead to is asked here again.
   */
  allows(hostname: string): boolean {
    const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
    const family = isIP(host)
    if (family === 0) return !isLocalName(host) || this.#allowed.check('127.0.0.1', 'ipv4')
    if (family === 4) return this.#allowsAddress(host, 'ipv4')
    // An address with a zone is one of a network next to us.
    const groups = groupsOf(host)
    if (groups === undefined) return false
    const embedded = embedded4(groups)
    return embedded === undefined ? this.#allowsAddress(host, 'ipv6') : this.#allowsAddress(embedded, 'ipv4')
  }

  #allowsAddress(address: string, type: 'ipv4' | 'ipv6'): boolean {
    return !this.#private.check(address, type) || this.#allowed.check(address, type)
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

/** The eight groups of an IPv6 address without a zone. */
function groupsOf(address: string): number[] | undefined {
  const written = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1)
  if (written === undefined) return undefined
  const [head = '', tail] = written.split('::')
  const parse = (part: string) => (part === '' ? [] : part.split(':').map((group) => parseInt(group, 16)))
  if (tail === undefined) return parse(head)
  const [first, last] = [parse(head), parse(tail)]
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last]
}

/** Prefixes of 96 bits before an IPv4 address: compatible, mapped, translated, NAT64. */
const before4 = ['0,0,0,0,0,0', '0,0,0,0,0,65535', '0,0,0,0,65535,0', '100,65435,0,0,0,0']

/** The IPv4 address within an IPv6 address, if it is of a kind that holds one; `::` and `::1` are none. */
function embedded4(groups: number[]): string | undefined {
  const [high = 0, low = 0] = groups.slice(6)
  if (
    !before4.includes(groups.slice(0, 6).join()) ||
    (groups[5] === 0 && groups[0] === 0 && groups[4] === 0 && high === 0 && low < 2)
  )
    return undefined
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
