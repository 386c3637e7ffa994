import { ownContext, type CallContext } from '@automation/rpc'

/** The context of an operator's call; nobody waits longer than a minute for its answer. */
export function operatorContext(): CallContext {
  return ownContext({ role: 'operator', team: '', subject: 'operator', name: 'operator' }, 60_000)
}
