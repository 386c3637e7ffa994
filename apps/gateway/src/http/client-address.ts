import { BlockList, isIP } from 'node:net'

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
      .map((hop) => plain(hop.trim()))
      .filter(Boolean)
    while (hops.length > 1 && isTrusted(trusted, hops.at(-1) as string)) hops.pop()
    const client = hops.at(-1) ?? ''
    return isIP(client) === 0 ? plain(remote) : client
  }
}

/** Throws a RangeError that names the first entry that is neither an address nor a CIDR. */
export function blockList(entries: string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/')
    const family = isIP(address)
    const bits = prefix === undefined ? (family === 6 ? 128 : 32) : Number(prefix)
    if (family === 0 || !Number.isInteger(bits) || bits < 0 || bits > (family === 6 ? 128 : 32))
      throw new RangeError(entry)
    list.addSubnet(address, bits, family === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

function isTrusted(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

function plain(address: string | undefined): string {
  if (address === undefined) return ''
  return address.startsWith('::ffff:') ? address.slice(7) : address
}
