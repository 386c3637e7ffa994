/** What is known of the children of one program when a run of it waits. Times in ms. */
export interface Demand {
  waiting: number
  /** With those that are being looked at after a run, but not those that are ended. */
  running: number
  /** Of those that run: busy with one run for so long that nobody waits for them to come free. */
  stuck: number
  /** Children asked for that have not come yet. */
  coming: number
  /** What a run takes in its child, as far as is known without what it waits for a processor; undefined while none has ended. */
  expectedMs: number | undefined
  /** How much of that it waits for anything else than a processor. */
  waitsMs: number | undefined
  /** For how long the first in the queue has waited. */
  waitedMs: number
  cores: number
}

/** Runs of this length get a child of their own at once. */
export const longMs = 20
/** Runs that wait so little, or for such a part of their time, do nothing but compute. */
const littleWaitMs = 1
const littleWait = 0.1
/** Short runs wait so long for a child to come free before another is started. */
export const patienceMs = 4
/** A run that should be short and lasts so long holds its child; before that, the machine may just be busy. */
const heldMs = 100

/** After how long a run counts as stuck. */
export function stuckAfterMs(expectedMs: number | undefined): number {
  return expectedMs === undefined ? longMs : heldMs
}

/**
 * How many more children to ask for. Short runs share few children: a herd of them would only compete for the same
 * cores. Long ones mostly wait for something, so each gets its own.
 */
export function childrenToAdd(demand: Demand): number {
  const { waiting, running, stuck, coming, expectedMs, waitedMs } = demand
  if (waiting === 0) return 0
  if (running + coming === 0) return 1
  if (expectedMs !== undefined && expectedMs >= longMs) return Math.max(0, waiting - coming)
  if (waitedMs < patienceMs) return 0
  // Nobody comes free soon: twice as many at each look.
  if (stuck === running) return Math.min(Math.max(0, waiting - coming), stuck + coming)
  if (coming > 0) return 0
  return running - stuck < mostChildrenOf(demand) ? 1 : 0
}

/** Of short runs that compute, more children than cores would only take them from each other. */
function mostChildrenOf({ expectedMs, waitsMs, waitedMs, cores }: Demand): number {
  if (expectedMs === undefined || waitsMs === undefined) return cores
  if (waitsMs <= Math.max(littleWaitMs, expectedMs * littleWait)) return cores
  return waitedMs >= longMs ? Infinity : cores * 4
}

/** The expectation after one more run: quick to rise, slow to forget. */
export function expectation(before: number | undefined, latest: number): number {
  return before === undefined ? latest : before + (latest - before) * 0.2
}

/** Spare children to keep at hand: more for a while after several were assigned. */
export function sparesTarget(configured: number, assignedLately: number): number {
  return Math.min(configured + assignedLately, Math.max(configured, 4))
}
