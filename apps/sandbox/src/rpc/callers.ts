import { Failure } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import type { Asker } from '../sandboxes.ts'

/** Whose call it is. Failure permission_denied for calls of no team. */
export function askerOf({ principal }: CallContext): Asker {
  const isMember = principal.role === 'user' || principal.role === 'service' || principal.role === 'operator'
  if (!isMember || principal.team === '') throw denied()
  return { team: principal.team, name: principal.name }
}

/** Lets only other services pass. */
export function serviceOnly({ principal }: CallContext): void {
  if (principal.role !== 'service') throw denied()
}

function denied(): Failure {
  return new Failure('permission_denied', 'permission_denied', 'This call is not allowed')
}
