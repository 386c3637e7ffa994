import type { TeamRemovalService } from '@automation/contract/storage/v1/team_removal'
import type { ObjectStore } from '@automation/objects'
import { operatorFor, type Handlers } from '@automation/rpc'
import { dropTeam, forgetTeam } from '../store/removed-teams.ts'
import { teamPrefix, type Store } from '../store/store.ts'
import type { Sweeper } from '../sweeper.ts'

/** What the operator removes of one team. */
export function teamRemovalService(
  store: Store,
  sweeper: Sweeper,
  objects: Pick<ObjectStore, 'removeAll'>,
): Handlers<typeof TeamRemovalService> {
  return {
    async removeTeam({ team }, context) {
      operatorFor(team, context)
      const { removed, due } = await dropTeam(store, team)
      for (const blob of due) await sweeper.remove(blob)
      if (removed + due.length > 0) return { removed: removed + due.length, done: false }
      // What a writer left that was cut off is in no row.
      await objects.removeAll(teamPrefix(team))
      return { removed: 0, done: await forgetTeam(store, team) }
    },
  }
}
