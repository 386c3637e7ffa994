import type { Principal } from '@automation/rpc'

/** As whom the scheduler asks others for something of a team. */
export function asScheduler(team: string): Principal {
  return { role: 'service', team, subject: 'scheduler', name: 'scheduler' }
}
