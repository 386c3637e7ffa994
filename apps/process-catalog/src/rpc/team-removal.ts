import type { TeamRemovalService } from '@automation/contract/catalog/v1/team_removal'
import { operatorFor, type Handlers } from '@automation/rpc'
import type { Catalog } from '../catalog.ts'
import { beginRemoval, finishRemoval, removeBelongings, setKeysOf } from '../store/removed-teams.ts'
import { endSessions } from '../store/sessions.ts'

/** The removal of a team with all that it has. */
export function teamRemovalHandlers({ store }: Pick<Catalog, 'store'>): Handlers<typeof TeamRemovalService> {
  return {
    async beginRemoval({ team }, context) {
      await beginRemoval(store, operatorFor(team, context))
      await endSessions(store, team)
      return {}
    },

    async listSetKeys({ team }, context) {
      operatorFor(team, context)
      return { keys: await setKeysOf(store, team) }
    },

    async removeTeam({ team }, context) {
      operatorFor(team, context)
      const removed = await removeBelongings(store, team)
      return { removed, done: removed === 0 }
    },

    async finishRemoval({ team }, context) {
      const author = operatorFor(team, context)
      await endSessions(store, team)
      await finishRemoval(store, author)
      return {}
    },
  }
}
