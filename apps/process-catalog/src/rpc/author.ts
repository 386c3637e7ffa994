import type { CallContext } from '@automation/rpc'
import { teamOf } from '../caller.ts'
import type { Author } from '../store/processes.ts'

/** Who writes: the caller's team, what `createdBy` shows of the caller, and what else is kept of them. */
export function authorOf(context: CallContext): Author {
  const { name, initiatedBy, ip } = context.principal
  return { team: teamOf(context), name, initiatedBy, ip }
}

/** Who writes where the operator does, to whichever team. */
export function operatorFor(team: string, { principal: { name, initiatedBy, ip } }: CallContext): Author {
  return { team, name, initiatedBy, ip }
}
