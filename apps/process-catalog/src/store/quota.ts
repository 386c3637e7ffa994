import { limitReached } from '@automation/errors'

/** How many things of a kind there may be. */
export interface DefinitionLimits {
  /** Of a team: processes, modules and variables, of each so many. */
  teamMaxDefinitions: number
  /** Of one process or module: versions and aliases, of each so many. */
  maxVersions: number
}

/**
 * Fails with limit_reached where there are as many rows of a kind as there may be. To be asked where the team's writes take turns, so
 * that the answer holds until the row is there.
 */
export async function requireQuota(
  count: (upTo: number) => Promise<number>,
  kind: keyof typeof kinds,
  limits: DefinitionLimits,
): Promise<void> {
  const { limit, setting, owner } = kinds[kind]
  const most = limits[limit]
  if ((await count(most)) >= most) throw limitReached(`${owner} has ${most} ${kind}`, setting)
}

const ofTeam = { limit: 'teamMaxDefinitions', setting: 'TEAM_MAX_DEFINITIONS', owner: 'The team' } as const
const ofOwner = { limit: 'maxVersions', setting: 'PROCESS_MAX_VERSIONS', owner: 'It' } as const
const kinds = {
  processes: ofTeam,
  modules: ofTeam,
  variables: ofTeam,
  versions: ofOwner,
  aliases: ofOwner,
} as const
