import { ownContext, type CallContext } from '@automation/rpc'

/** The context of an operator's call, on behalf of a team where one is named; nobody waits longer than a minute for its answer. */
export function operatorContext(team = ''): CallContext {
  return ownContext({ role: 'operator', team, subject: 'operator', name: 'operator' }, 60_000)
}
