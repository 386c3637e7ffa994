import type { Status } from '../client/records.ts'

/** From a status, the only ones that may follow. */
const next: Record<Status, readonly Status[]> = {
  CREATED: ['RUNNING', 'QUEUED', 'REJECTED', 'KILLED', 'ERROR'],
  QUEUED: ['DEQUEUED', 'KILLED', 'REJECTED', 'ERROR'],
  DEQUEUED: ['RUNNING', 'QUEUED', 'KILLED', 'ERROR'],
  RUNNING: ['FINISHED', 'ERROR', 'KILLED'],
  FINISHED: [],
  ERROR: [],
  KILLED: [],
  REJECTED: [],
}

/** The first step of a timeline that is not allowed, in words; undefined where all are. */
export function illegalStep(statuses: readonly Status[]): string | undefined {
  if (statuses[0] !== 'CREATED') return `begins with ${statuses[0]}`
  for (const [index, from] of statuses.slice(0, -1).entries()) {
    const to = statuses[index + 1]
    if (to === undefined || !next[from].includes(to)) return `${from} → ${to}`
  }
  return undefined
}
