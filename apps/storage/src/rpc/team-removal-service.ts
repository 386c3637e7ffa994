import type { TeamRemovalService } from '@automation/contract/storage/v1/team_removal'
import type { ObjectStore } from '@automation/objects'
import { operatorFor, type Handlers } from '@automation/rpc'
import { dropTeam, dueBlobsOfTeam, forgetTeam } from '../store/removed-teams.ts'
import { teamPrefix, type Store } from '../store/store.ts'
import type { Sweeper } from '../sweeper.ts'

const batch = 200

/** What the operator removes of one team. */
export function teamRemovalService(
  store: Store,
  sweeper: Sweeper,
  objects: Pick<ObjectStore, 'removeAll'>,
): Handlers<typeof TeamRemovalService> {
  return {
    async removeTeam({ team }, context) {
      operatorFor(team, context)
      const rows = await dropTeam(store, team)
      const blobs = await dueBlobsOfTeam(store, team, batch)
      for (const blob of blobs) await sweeper.remove(blob)
      if (blobs.length === batch) return { removed: rows + blobs.length, done: false }
      // What a writer left that was cut off is in no row.
      await objects.removeAll(teamPrefix(team))
      return { removed: rows + blobs.length, done: await forgetTeam(store, team) }
    },
  }
}
