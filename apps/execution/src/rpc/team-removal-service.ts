import type { TeamRemovalService } from '@automation/contract/execution/v1/team_removal'
import { isUuid } from '@automation/contract/forms'
import { invalid } from '@automation/errors'
import { operatorFor, principalIn, type Handlers } from '@automation/rpc'
import type { Runners } from '../dispatch/runners.ts'
import type { TeamRemoval } from '../end/team-removal.ts'

const mostKeys = 10_000

/** What the operator ends and removes of one team. */
export function teamRemovalService(
  removal: TeamRemoval,
  runners: Pick<Runners, 'streams'>,
): Handlers<typeof TeamRemovalService> {
  return {
    async stopTeam({ team, waiting }, context) {
      const { name } = operatorFor(team, context)
      return removal.stop({ team, name }, waiting)
    },

    async removeTeam({ team }, context) {
      operatorFor(team, context)
      return removal.remove(team)
    },

    async removeSets({ keys }, context) {
      principalIn(context, 'operator')
      if (keys.length > mostKeys || !keys.every(isUuid)) throw invalid('/keys', `must be at most ${mostKeys} UUIDs`)
      // Of whatever team they are: runners of a pool of one team are told nothing of others.
      for (const { messages, owner } of runners.streams)
        if (owner === undefined) messages.push({ message: { case: 'removeSets', value: { keys } } })
      return {}
    },
  }
}
