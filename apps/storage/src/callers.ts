import { Failure } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import type { RunRights, RunTokens } from '@automation/rpc/run-token'

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

/** Readers of the rights of runs, for calls that no user makes. Failures as those of `askerReader`. */
export interface ReadRights {
  run(context: CallContext): RunRights
  /** The install of a set: its team and the set's key. */
  install(context: CallContext): { team: string; key: string }
}

export function rightsReader(tokens: RunTokens): ReadRights {
  const run = ({ principal }: CallContext) => {
    if (principal.role !== 'run') throw denied()
    return tokens.read(principal.token, Date.now())
  }
  return {
    run,
    install(context) {
      const { team, installs } = run(context)
      if (installs === undefined) throw denied()
      return { team, key: installs }
    },
  }
}

/** Lets only other services pass. */
export function serviceOnly({ principal }: CallContext): void {
  if (principal.role !== 'service') throw denied()
}

function denied(): Failure {
  return new Failure('permission_denied', 'permission_denied', 'This call is not allowed')
}
