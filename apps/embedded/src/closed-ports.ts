import { networkInterfaces } from 'node:os'
import type { EnvironmentValues } from './environment.ts'

// Closed to one host, a port is closed to all: these lead to the whole web.
const webPorts = [80, 443]

/**
 * The ports of the system on this machine, which no run may reach, as RUNNER_CLOSED_PORTS: its listeners, and those of
 * its addresses (URLs, host:port or name=host:port, by commas) that are on this machine. What the operator names is added.
 */
export function closedPorts(given: EnvironmentValues, listeners: number[], databaseUrl: string): string {
  const addresses = [databaseUrl, given['S3_ENDPOINT'], given['KAFKA_BROKERS'], given['SERVICE_ADDRESSES']]
  const local = addresses.flatMap((text) => (text ?? '').split(',')).flatMap(portHere)
  const own = [...listeners, ...local].filter((port) => port > 0 && !webPorts.includes(port))
  const named = (given['RUNNER_CLOSED_PORTS'] ?? '').split(',').map((word) => word.trim())
  return [...new Set([...named.filter(Boolean), ...own.map(String)])].join(',')
}

function portHere(address: string): number[] {
  const text = address.trim().replace(/^\w+=/, '')
  const url = text.includes('://') ? text : `tcp://${text}`
  if (text === '' || !URL.canParse(url)) return []
  const { hostname, port, protocol } = new URL(url)
  const usual = protocol.startsWith('postgres') ? 5432 : 0
  return isHere(hostname.replace(/^\[|\]$/g, '')) ? [Number(port) || usual] : []
}

function isHere(host: string): boolean {
  if (host === '' || host === 'localhost' || host === '::1' || host.startsWith('127.')) return true
  return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === host))
}
