import { Status } from '@automation/contract/execution/v1/execution'

/** The transitions that there are; whatever is not here never happens. A terminal status has none. */
const transitions: Record<Status, readonly Status[]> = {
  [Status.UNSPECIFIED]: [Status.CREATED],
  [Status.CREATED]: [Status.RUNNING, Status.QUEUED, Status.REJECTED, Status.KILLED, Status.ERROR],
  [Status.QUEUED]: [Status.DEQUEUED, Status.KILLED, Status.REJECTED, Status.ERROR],
  [Status.DEQUEUED]: [Status.RUNNING, Status.QUEUED, Status.KILLED, Status.ERROR],
  [Status.RUNNING]: [Status.FINISHED, Status.ERROR, Status.KILLED],
  [Status.FINISHED]: [],
  [Status.KILLED]: [],
  [Status.REJECTED]: [],
  [Status.ERROR]: [],
}

/** Whether an execution may go from one status to the other. */
export function mayFollow(from: Status, to: Status): boolean {
  return transitions[from].includes(to)
}

/** Whether nothing follows. */
export function isTerminal(status: Status): boolean {
  return status !== Status.UNSPECIFIED && transitions[status].length === 0
}

/** These statuses, for statements that write them; throws where one may not follow the one before it. */
export function way<W extends readonly Status[]>(...all: W): W {
  all.forEach((to, index) => {
    const from = all[index - 1]
    if (from !== undefined && !mayFollow(from, to)) throw new Error(`${Status[to]} may not follow ${Status[from]}`)
  })
  return all
}

/** How runs that wait for a slot are shown: as they are, or as CREATED, for callers that take QUEUED for an end. */
export type WaitingStatus = 'QUEUED' | 'CREATED'

const waiting: readonly Status[] = [Status.QUEUED, Status.DEQUEUED]

/** The status that a record shows. */
export function shownStatus(status: Status, as: WaitingStatus): Status {
  return as === 'CREATED' && waiting.includes(status) ? Status.CREATED : status
}

/** The statuses of rows that a filter finds: those that are so, and those that are shown so. No row rests as DEQUEUED. */
export function statusesFound(status: Status, as: WaitingStatus): Status[] {
  return status === Status.CREATED && as === 'CREATED' ? [status, Status.QUEUED] : [status]
}

/** The statuses from which `to` may be reached: what a compare-and-set on the status compares with. */
export function before(to: Status): Status[] {
  return statuses.filter((from) => mayFollow(from, to))
}

export const statuses: readonly Status[] = Object.keys(transitions)
  .map(Number)
  .filter((status) => status !== Status.UNSPECIFIED)
