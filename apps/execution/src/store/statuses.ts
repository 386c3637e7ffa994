import { Status } from '@automation/contract/execution/v1/execution'
import { isTerminal, statuses, way } from '../status.ts'

/** In a statement, a list of statuses. Literals, as in partial indexes: by them a plan knows that it may use one. */
export const among = (some: readonly Status[]): string => `(${some.join(', ')})`

/** In a statement: the statuses of runs that have not ended, and of those that have. */
export const livingStatuses = among(statuses.filter((status) => !isTerminal(status)))
export const endedStatuses = among(statuses.filter(isTerminal))

/** Those of runs in their team's queue: what waits for packages, or did so just now, is CREATED. */
export const waitingStatuses = among([Status.CREATED, Status.QUEUED])

/** In a statement, that a run `e` waits in its team's queue, in the words of the indexes of those. */
export const waits = `e.tracked AND e.session_id IS NULL AND e.status IN ${waitingStatuses}`

/** That a runner may have it: it waits for a slot alone. */
export const waitsForSlot = `${waits} AND NOT e.held`

/** In a statement, the first events of a run that goes this way: rows of `sequence` and `status`. */
export function firstEvents(...[first, ...others]: readonly [Status, ...Status[]]): string {
  const all = way(Status.UNSPECIFIED, first, ...others).slice(1)
  return `(VALUES ${all.map((status, index) => `(${index + 1}, ${status})`).join(', ')})`
}
