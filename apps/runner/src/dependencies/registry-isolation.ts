import { lookup } from 'node:dns/promises'
import type { IsolationConfig } from '@automation/jail'

/** An isolation out of which these registries are reached, wherever the operator has put them; those on this machine, too. */
export async function isolationTo(registries: string[], isolation: IsolationConfig): Promise<IsolationConfig> {
  const addresses = new Set<string>()
  for (const registry of registries) {
    const host = new URL(registry).hostname.replace(/^\[|\]$/g, '')
    for (const { address } of await lookup(host, { all: true }).catch(() => [])) addresses.add(address)
  }
  const isHere = [...addresses].some((address) => address.startsWith('127.') || address === '::1')
  const network = isHere ? 'host' : isolation.network
  return { ...isolation, network, egressAllow: [...isolation.egressAllow, ...addresses], manyTeamsAnyway: true }
}
