import { Failure } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import type { RunTokens } from '@automation/rpc/run-token'

/** Who asks: a user of a team, or a run of it. */
export interface Asker {
  team: string
  /** What `createdBy` keeps. */
  name: string
}

export type ReadAsker = (context: CallContext) => Asker

/** Makes the reader of askers. Failures: permission_denied for calls of no team, unauthenticated for a run's bad token. */
export function askerReader(tokens: RunTokens): ReadAsker {
  return ({ principal }) => {
    if (principal.role === 'run') {
      const rights = tokens.read(principal.token, Date.now())
      return { team: rights.team, name: rights.createdBy }
    }
    const isMember = principal.role === 'user' || principal.role === 'service' || principal.role === 'operator'
    if (!isMember || principal.team === '') throw denied()
    return { team: principal.team, name: principal.name }
  }
}

/** Lets only other services pass. */
export function serviceOnly({ principal }: CallContext): void {
  if (principal.role !== 'service') throw denied()
}

function denied(): Failure {
  return new Failure('permission_denied', 'permission_denied', 'This call is not allowed')
}
