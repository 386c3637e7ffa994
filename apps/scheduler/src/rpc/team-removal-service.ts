import type { TeamRemovalService } from '@automation/contract/schedule/v1/team_removal'
import { operatorFor, type Handlers } from '@automation/rpc'
import { removeTeam } from '../store/removed-teams.ts'
import type { Store } from '../store/store.ts'

/** What the operator removes of one team. */
export function teamRemovalService(store: Store): Handlers<typeof TeamRemovalService> {
  return {
    async removeTeam({ team }, context) {
      operatorFor(team, context)
      return removeTeam(store, team)
    },
  }
}
