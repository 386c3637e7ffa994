import type { Execution, Status, TimelineEvent } from '../client/records.ts'

/** How many runs of a team go on at a time, and how many may wait: the settings that the system is started with. */
export const limits = { running: 4, queued: 3 } as const

/** What a run's code does: gives a value, fails, or waits until it is told which. */
export type Plan = 'value' | 'fault' | 'hold'

/** A run as the model knows it. */
export interface Run {
  id: string
  plan: Plan
  comment: string | undefined
  /** What it was told to do, where it waits for that. */
  released: 'value' | 'fault' | undefined
  /** How it ended. */
  end: Status | undefined
  /** What its timeline was when it was last looked at. */
  seen: TimelineEvent[]
  /** As it was first read after its end. */
  last: Execution | undefined
}

/** The runs of one process, whose team has no others. */
export interface RunQueue {
  /** In the order in which they were accepted. */
  runs: Run[]
  keys: Map<string, { plan: Plan; run: Run }>
}

export function newRun(id: string, plan: Plan, comment?: string): Run {
  return { id, plan, comment, released: undefined, end: undefined, seen: [], last: undefined }
}

export const active = ({ runs }: RunQueue) => runs.filter(({ end }) => end === undefined)

/** Whether one more would be refused. */
export const isFull = (queue: RunQueue) => active(queue).length >= limits.running + limits.queued

/** Those that have a slot. */
export const placed = (queue: RunQueue) => active(queue).slice(0, limits.running)

/** Takes in a run that was just asked for: REJECTED where there is no room, else it is the last in the queue. */
export function accept(queue: RunQueue, run: Run): Run {
  if (isFull(queue)) run.end = 'REJECTED'
  queue.runs.push(run)
  return run
}

/** Lets all that can end come to its end, as the system does by itself when it is left alone. */
export function settle(queue: RunQueue): void {
  for (;;) {
    const done = placed(queue).find((run) => outcomeOf(run) !== undefined)
    if (done === undefined) return
    done.end = outcomeOf(done)
  }
}

function outcomeOf({ plan, released }: Run): Status | undefined {
  const word = plan === 'hold' ? released : plan
  return word === undefined ? undefined : word === 'value' ? 'FINISHED' : 'ERROR'
}

/** The status of a run once the system has come to rest. */
export function statusAtRest(queue: RunQueue, run: Run): Status {
  return run.end ?? (placed(queue).includes(run) ? 'RUNNING' : 'QUEUED')
}
