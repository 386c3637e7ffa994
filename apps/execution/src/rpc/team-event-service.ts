import type { TeamEventService } from '@automation/contract/execution/v1/team_event'
import { memberIn, type Handlers } from '@automation/rpc'
import type { TeamEvents } from '../read/team-events.ts'

/** What happens to the executions of a team, for the gateway. */
export function teamEventService(teamEvents: TeamEvents): Handlers<typeof TeamEventService> {
  return {
    watchTeam: (request, context) => teamEvents.watch(memberIn(context).team, request, context.signal),
  }
}
