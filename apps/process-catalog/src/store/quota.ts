import { limitReached } from '@automation/errors'
import type { TeamLimits } from '@automation/service'

/** How many processes, modules and variables of a team, and versions and aliases of one process or module, of each so many. */
export type DefinitionLimits = Pick<TeamLimits, 'definitions' | 'versions'>

/**
 * Fails with limit_reached where there are as many rows of a kind as there may be. To be asked where the team's writes take turns, so
 * that the answer holds until the row is there.
 */
export async function requireQuota(
  count: (upTo: number) => Promise<number>,
  kind: keyof typeof kinds,
  limits: DefinitionLimits,
): Promise<void> {
  const { limit, owner } = kinds[kind]
  const most = limits[limit]
  if ((await count(most)) >= most) throw limitReached(`${owner} has ${most} ${kind}`, `${limit} in TEAM_LIMITS`)
}

const ofTeam = { limit: 'definitions', owner: 'The team' } as const
const ofOwner = { limit: 'versions', owner: 'It' } as const
const kinds = {
  processes: ofTeam,
  modules: ofTeam,
  variables: ofTeam,
  versions: ofOwner,
  aliases: ofOwner,
} as const
