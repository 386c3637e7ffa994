import { lookup } from 'node:dns/promises'
import type { WallConfig } from '@automation/jail'

/** A wall out of which these registries are reached, wherever the operator has put them; those on this machine, too. */
export async function wallTo(registries: string[], wall: WallConfig): Promise<WallConfig> {
  const addresses = new Set<string>()
  for (const registry of registries) {
    const host = new URL(registry).hostname.replace(/^\[|\]$/g, '')
    for (const { address } of await lookup(host, { all: true }).catch(() => [])) addresses.add(address)
  }
  const isHere = [...addresses].some((address) => address.startsWith('127.') || address === '::1')
  const network = isHere ? 'host' : wall.network
  return { ...wall, network, egressAllow: [...wall.egressAllow, ...addresses], manyTeamsAnyway: true }
}
