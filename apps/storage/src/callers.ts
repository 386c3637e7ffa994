import { Failure } from '@automation/errors'
import { memberIn, principalIn, type CallContext, type Member } from '@automation/rpc'
import type { RunTokens } from '@automation/rpc/run-token'

/** For which team, and as whom, a call is made: by a member of the team, or by one of its runs. */
export type ReadAsker = (context: CallContext) => Member

/** Makes the reader of askers. Failures: permission_denied for calls of no team, unauthenticated for a run's bad token. */
export function askerReader(tokens: RunTokens): ReadAsker {
  return (context) => {
    const { role, token } = context.principal
    if (role !== 'run') return memberIn(context)
    const { team, createdBy, initiatedBy } = tokens.read(token, Date.now())
    return { team, name: createdBy, initiatedBy }
  }
}

/** The set of packages that a run may store: the one that it is the install of. */
export interface OwnSet {
  team: string
  key: string
}

/** Readers of what runs may do with sets of packages. Failures as those of `askerReader`. */
export interface ReadRights {
  /** Whose sets a run may fetch. */
  teamOf(context: CallContext): string
  ownSetOf(context: CallContext): OwnSet
}

/**
 * Makes the reader of what a run may do with sets of packages. Failures: unauthenticated for a bad token, permission_denied
 * for what is no install.
 */
export function rightsReader(tokens: RunTokens): ReadRights {
  const rightsOf = (context: CallContext) => tokens.read(principalIn(context, 'run').token, Date.now())
  return {
    teamOf: (context) => rightsOf(context).team,
    ownSetOf(context) {
      const { team, installs } = rightsOf(context)
      if (installs === undefined)
        throw new Failure('permission_denied', 'permission_denied', 'Only an install may store packages')
      return { team, key: installs }
    },
  }
}
