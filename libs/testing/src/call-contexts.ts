import { ownContext, type CallContext, type Principal } from '@automation/rpc'

// A file's tests share their contexts, however long they take.
const longMs = 600_000

/** A call by a user of this team, as the gateway makes it from a verified token. */
export function userContext(team: string, principal: Partial<Principal> = {}, timeoutMs = longMs): CallContext {
  return ownContext({ role: 'user', team, subject: `sa-${team}-test0000`, name: 'tester', ...principal }, timeoutMs)
}

/** A call by the operator's command line. */
export function operatorContext(timeoutMs = longMs): CallContext {
  return ownContext({ role: 'operator', team: '', subject: 'admin', name: 'operator' }, timeoutMs)
}

/** A call by another service, for no team unless one is named. */
export function serviceContext(name: string, team = '', timeoutMs = longMs): CallContext {
  return ownContext({ role: 'service', team, subject: name, name }, timeoutMs)
}
