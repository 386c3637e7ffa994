import { Failure } from '@automation/errors'
import type { CallContext, Principal, Role } from './context.ts'

/** Who asks for something of a team. */
export interface Member {
  team: string
  /** What `createdBy` keeps. */
  name: string
  /** Value of Svc-Initiated-By. */
  initiatedBy?: string
  /** Address of the caller. */
  ip?: string
}

/** The principal of a call that only these roles may make. Failure permission_denied. */
export function principalIn({ principal }: CallContext, ...roles: Role[]): Principal {
  if (!roles.includes(principal.role)) throw denied()
  return principal
}

/** For which team, and as whom, a call is made. Failure permission_denied for calls of no team. */
export function memberIn(context: CallContext): Member {
  const { team, name, initiatedBy, ip } = principalIn(context, 'user', 'service', 'operator')
  if (team === '') throw denied()
  return { team, name, initiatedBy, ip }
}

function denied(): Failure {
  return new Failure('permission_denied', 'permission_denied', 'This call is not allowed')
}
