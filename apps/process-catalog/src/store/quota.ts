import type { LimitSchema } from '@automation/contract/common/v1/limit'
import { limitReached } from '@automation/errors'
import type { TeamLimits } from '@automation/service'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { Store } from './store.ts'

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

/**
 * What a team may have and has of each kind; versions are counted for one process or module at a time, so they have no
 * number in use.
 */
export async function quotasInUse(store: Store, team: string): Promise<MessageInitShape<typeof LimitSchema>[]> {
  const { definitions, versions } = store.limits
  const where = { team }
  const [processes, modules, variables] = await store.readFor(team, (rows) =>
    Promise.all([rows.process.count({ where }), rows.module.count({ where }), rows.variable.count({ where })]),
  )
  const counted = Object.entries({ processes, modules, variables })
  return [
    ...counted.map(([name, inUse]) => ({ name, allowed: BigInt(definitions), inUse: BigInt(inUse) })),
    { name: 'versions', allowed: BigInt(versions) },
  ]
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
