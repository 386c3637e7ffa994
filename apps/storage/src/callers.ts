import { memberIn, type CallContext, type Member } from '@automation/rpc'
import type { RunTokens } from '@automation/rpc/run-token'

/** For which team, and as whom, a call is made: by a member of the team, or by one of its runs. */
export type ReadAsker = (context: CallContext) => Member

/** Makes the reader of askers. Failures: permission_denied for calls of no team, unauthenticated for a run's bad token. */
export function askerReader(tokens: RunTokens): ReadAsker {
  return (context) => {
    const { role, token } = context.principal
    if (role !== 'run') return memberIn(context)
    const { team, createdBy } = tokens.read(token, Date.now())
    return { team, name: createdBy }
  }
}
