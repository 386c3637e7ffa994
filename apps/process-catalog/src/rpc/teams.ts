import { TeamSchema, type TeamService } from '@automation/contract/catalog/v1/team'
import { invalid, notFound } from '@automation/errors'
import { memberIn, operatorFor, principalIn, type Handlers } from '@automation/rpc'
import { create } from '@bufbuild/protobuf'
import { isTeamSlug, isUuid } from '@automation/contract/forms'
import type { Catalog } from '../catalog.ts'
import { teamChange } from '../teams/team-change.ts'
import {
  beginTeamMove,
  clearAllowedAddresses,
  countTeams,
  createTeam,
  endTeamMove,
  getTeam,
  grantParent,
  listTeams,
  resumeTeam,
  revokeParent,
  suspendTeam,
  updateTeam,
} from '../store/teams.ts'
import { quotasInUse } from '../store/quota.ts'
import { newTeamSlug } from '../fields/names.ts'

const reasonMaxLength = 500

/** Teams and their parents. */
export function teamHandlers({ store, effects }: Catalog): Handlers<typeof TeamService> {
  return {
    getTeam(_, context) {
      return getTeam(store, memberIn(context).team)
    },

    async updateTeam({ values = create(TeamSchema), mask, tokenTeams, ifMatch }, context) {
      const author = memberIn(context)
      const change = teamChange(values, mask)
      const updated = await updateTeam(store, author, { ...change, ifMatch }, tokenTeams)
      // Who reads a schedule next finds its times in the new zone.
      if (change.zoneId !== undefined) await effects.tell(author.team, context)
      return updated
    },

    async getLimits(_, context) {
      return { limits: await quotasInUse(store, memberIn(context).team) }
    },

    async createTeam({ slug, cell }, context) {
      const operator = principalIn(context, 'operator')
      return createTeam(store, { ...operator, team: newTeamSlug(slug) }, checkedCell(cell))
    },

    async listTeams(_, context) {
      principalIn(context, 'operator')
      return { teams: await listTeams(store) }
    },

    async countTeams(_, context) {
      principalIn(context, 'service')
      return { count: await countTeams(store) }
    },

    async grantParent({ child, parent }, context) {
      const operator = principalIn(context, 'operator')
      checkPair(child, parent)
      await grantParent(store, { ...operator, team: child }, parent)
      return {}
    },

    async revokeParent({ child, parent }, context) {
      const operator = principalIn(context, 'operator')
      checkPair(child, parent)
      await revokeParent(store, { ...operator, team: child }, parent)
      return {}
    },

    async clearAllowedAddresses({ team }, context) {
      const operator = principalIn(context, 'operator')
      if (!isTeamSlug(team)) throw notFound('team')
      await clearAllowedAddresses(store, { ...operator, team })
      return {}
    },

    async suspendTeam({ team, reason }, context) {
      const operator = principalIn(context, 'operator')
      if (!isTeamSlug(team)) throw notFound('team')
      if (reason.length > reasonMaxLength) throw invalid('/reason', `must have at most ${reasonMaxLength} characters`)
      return suspendTeam(store, { ...operator, team }, reason)
    },

    async resumeTeam({ team }, context) {
      const operator = principalIn(context, 'operator')
      if (!isTeamSlug(team)) throw notFound('team')
      return resumeTeam(store, { ...operator, team })
    },

    async beginTeamMove({ team, cell, move }, context) {
      const operator = operatorFor(team, context)
      if (!isUuid(move)) throw invalid('/move', 'must be a UUID')
      return beginTeamMove(store, operator, { cell: checkedCell(cell), moveId: move })
    },

    async endTeamMove({ team, move, moved }, context) {
      const operator = operatorFor(team, context)
      if (!isUuid(move) && (moved || move !== '')) throw invalid('/move', 'must be a UUID')
      return endTeamMove(store, operator, { moveId: move || undefined, moved })
    },
  }
}

/** A cell is called as a team is. */
function checkedCell(cell: string): string {
  if (cell !== '' && !isTeamSlug(cell)) throw invalid('/cell', 'must be 1 to 63 of a-z, 0-9 and inner hyphens')
  return cell
}

function checkPair(child: string, parent: string): void {
  if (!isTeamSlug(child) || !isTeamSlug(parent)) throw notFound('team')
  if (child === parent) throw invalid('/parent', 'must be another team')
}
