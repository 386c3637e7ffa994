import type { TeamRemovalService } from '@automation/contract/sandbox/v1/team_removal'
import { operatorFor, type Handlers } from '@automation/rpc'
import type { Reconciler } from '../reconciler.ts'
import { removeEnded } from '../store/removed-teams.ts'
import { readActiveOfTeam } from '../store/reads.ts'
import type { Store } from '../store/store.ts'

/** What the operator ends of one team; `removeRunnerPods` gives how many there were. */
export function teamRemovalService(
  store: Store,
  reconciler: Reconciler,
  removeRunnerPods: (team: string) => Promise<number>,
): Handlers<typeof TeamRemovalService> {
  return {
    async stopTeam({ team }, context) {
      const { name } = operatorFor(team, context)
      const ids = await readActiveOfTeam(store, team)
      await Promise.all(ids.map((id) => reconciler.kill(id, { team, name })))
      return { ended: ids.length, done: ids.length === 0 }
    },

    async removeTeam({ team }, context) {
      operatorFor(team, context)
      const pods = await removeRunnerPods(team)
      const { removed, done } = await removeEnded(store, team)
      return { removed: pods + removed, done }
    },
  }
}
