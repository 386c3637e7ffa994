import { isIPv6 } from 'node:net'

/** As host:port; an IPv6 address stands in brackets. */
export function addressOf(host: string, port: number | string): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
}

/** The two sides of host:port; the host without the brackets of an IPv6 address. */
export function partsOf(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':')
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(address.slice(colon + 1)) }
}
