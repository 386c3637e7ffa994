import { Failure } from '@automation/errors'
import type { CallContext, Principal, Role } from '@automation/rpc'

/** The principal of a call that only these roles may make. Failure permission_denied. */
export function principalIn(context: CallContext, ...roles: Role[]): Principal {
  if (!roles.includes(context.principal.role)) throw denied()
  return context.principal
}

/** The team that a call acts for. Failure permission_denied for calls of no team. */
export function teamOf(context: CallContext): string {
  const { team } = principalIn(context, 'user', 'service', 'operator')
  if (team === '') throw denied()
  return team
}

function denied(): Failure {
  return new Failure('permission_denied', 'permission_denied', 'This call is not allowed')
}
