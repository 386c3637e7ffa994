import { Failure } from '@automation/errors'
import { memberIn, type CallContext, type Member } from '@automation/rpc'
import type { RunRights, RunTokens } from '@automation/rpc/run-token'

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

function denied(): Failure {
  return new Failure('permission_denied', 'permission_denied', 'This call is not allowed')
}
