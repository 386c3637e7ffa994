import type { Principal } from '@automation/rpc'

/** As whom the catalog asks others for something of a team. */
export function asCatalog(team: string): Principal {
  return { role: 'service', team, subject: 'process-catalog', name: 'process-catalog' }
}
