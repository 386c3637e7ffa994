import { isTeamSlug } from '@automation/contract/forms'
import type { TeamRemovalService } from '@automation/contract/schedule/v1/team_removal'
import { notFound } from '@automation/errors'
import { principalIn, type Handlers } from '@automation/rpc'
import { removeTeam } from '../store/removed-teams.ts'
import type { Store } from '../store/store.ts'

/** What the operator removes of one team. */
export function teamRemovalService(store: Store): Handlers<typeof TeamRemovalService> {
  return {
    async removeTeam({ team }, context) {
      principalIn(context, 'operator')
      if (!isTeamSlug(team)) throw notFound('team')
      return removeTeam(store, team)
    },
  }
}
