import { TeamSchema, type TeamService } from '@automation/contract/catalog/v1/team'
import { invalid, notFound } from '@automation/errors'
import type { Handlers } from '@automation/rpc'
import { create } from '@bufbuild/protobuf'
import { operatorOnly, serviceOnly, teamOf } from '../caller.ts'
import type { Catalog } from '../catalog.ts'
import { teamChange } from '../team-change.ts'
import { countTeams, createTeam, getTeam, grantParent, listTeams, revokeParent, updateTeam } from '../store/teams.ts'
import { isTeamSlug, newTeamSlug } from '../team-slug.ts'
import { authorOf, operatorFor } from './author.ts'

/** Teams and their parents. */
export function teamHandlers({ store, effects }: Catalog): Handlers<typeof TeamService> {
  return {
    getTeam(_, context) {
      return getTeam(store, teamOf(context))
    },

    async updateTeam({ values = create(TeamSchema), mask, tokenTeams }, context) {
      const author = authorOf(context)
      const change = teamChange(values, mask)
      const updated = await updateTeam(store, author, change, tokenTeams)
      // Who reads a schedule next finds its times in the new zone.
      if (change.zoneId !== undefined) await effects.tell(author.team, context)
      return updated
    },

    async createTeam({ slug }, context) {
      operatorOnly(context)
      return createTeam(store, operatorFor(newTeamSlug(slug), context))
    },

    async listTeams(_, context) {
      operatorOnly(context)
      return { teams: await listTeams(store) }
    },

    async countTeams(_, context) {
      serviceOnly(context)
      return { count: await countTeams(store) }
    },

    async grantParent({ child, parent }, context) {
      operatorOnly(context)
      checkPair(child, parent)
      await grantParent(store, operatorFor(child, context), parent)
      return {}
    },

    async revokeParent({ child, parent }, context) {
      operatorOnly(context)
      checkPair(child, parent)
      await revokeParent(store, operatorFor(child, context), parent)
      return {}
    },
  }
}

function checkPair(child: string, parent: string): void {
  if (!isTeamSlug(child) || !isTeamSlug(parent)) throw notFound('team')
  if (child === parent) throw invalid('/parent', 'must be another team')
}
