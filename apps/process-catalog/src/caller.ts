import { Failure } from '@automation/errors'
import type { CallContext, Role } from '@automation/rpc'

const teamRoles: Role[] = ['user', 'service', 'operator']

/** The one team that the call may touch. Fails where the caller acts for none, or is a run or a runner. */
export function teamOf({ principal }: CallContext): string {
  if (!teamRoles.includes(principal.role) || principal.team === '')
    throw new Failure('permission_denied', 'team_required', 'This call is for members of a team')
  return principal.team
}

/** Lets only the operator pass. */
export function operatorOnly({ principal }: CallContext): void {
  if (principal.role !== 'operator')
    throw new Failure('permission_denied', 'operator_only', 'This call is for the operator only')
}

/** Lets only other parts of the system pass. */
export function serviceOnly({ principal }: CallContext): void {
  if (principal.role !== 'service') throw forServices()
}

/** Lets other parts of the system pass, for any team, and a team's own callers for their team. */
export function serviceOrTeam({ principal }: CallContext, team: string): void {
  if (principal.role === 'service') return
  if (principal.role === 'user' && principal.team === team && team !== '') return
  throw forServices()
}

/** Lets every part and person pass, but neither runs nor runners, whose rights are others. */
export function notFromRuns({ principal }: CallContext): void {
  if (principal.role === 'run' || principal.role === 'runner') throw forServices()
}

function forServices(): Failure {
  return new Failure('permission_denied', 'service_only', 'This call is for services only')
}
