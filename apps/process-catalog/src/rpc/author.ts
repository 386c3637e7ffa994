import type { CallContext } from '@automation/rpc'
import { teamOf } from '../caller.ts'
import type { Author } from '../store/processes.ts'

/** Who writes: the caller's team and what `createdBy` shows of the caller. */
export function authorOf(context: CallContext): Author {
  return { team: teamOf(context), name: context.principal.name }
}
