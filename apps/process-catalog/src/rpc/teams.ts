import { TeamSchema, type TeamService } from '@automation/contract/catalog/v1/team'
import { invalid, notFound } from '@automation/errors'
import type { Handlers } from '@automation/rpc'
import { create } from '@bufbuild/protobuf'
import { operatorOnly, teamOf } from '../caller.ts'
import type { Catalog } from '../catalog.ts'
import { teamChange } from '../team-change.ts'
import { createTeam, getTeam, grantParent, listTeams, revokeParent, updateTeam } from '../store/teams.ts'
import { isTeamSlug, newTeamSlug } from '../team-slug.ts'

export function teamHandlers({ store, effects }: Catalog): Handlers<typeof TeamService> {
  return {
    getTeam(_, context) {
      return getTeam(store, teamOf(context))
    },

    async updateTeam({ values = create(TeamSchema), mask, tokenTeams }, context) {
      const team = teamOf(context)
      const change = teamChange(values, mask)
      const updated = await updateTeam(store, team, change, tokenTeams)
      // Who reads a schedule next finds its times in the new zone.
      if (change.zoneId !== undefined) await effects.tell(team, context)
      return updated
    },

    async createTeam({ slug }, context) {
      operatorOnly(context)
      return createTeam(store, newTeamSlug(slug))
    },

    async listTeams(_, context) {
      operatorOnly(context)
      return { teams: await listTeams(store) }
    },

    async grantParent({ child, parent }, context) {
      operatorOnly(context)
      await grantParent(store, ...pair(child, parent))
      return {}
    },

    async revokeParent({ child, parent }, context) {
      operatorOnly(context)
      await revokeParent(store, ...pair(child, parent))
      return {}
    },
  }
}

function pair(child: string, parent: string): [string, string] {
  if (!isTeamSlug(child) || !isTeamSlug(parent)) throw notFound('team')
  if (child === parent) throw invalid('/parent', 'must be another team')
  return [child, parent]
}
