/** What is known of the children of one program when a run of it waits. Times in ms. */
export interface Demand {
  waiting: number
  running: number
  /** Of those that run: busy with one run for so long that nobody waits for them to come free. */
  stuck: number
  /** Children asked for that have not come yet. */
  coming: number
  /** What a run takes in its child; undefined while none has ended. */
  expectedMs: number | undefined
  /** Whether most of its runs waited for nothing but a processor. */
  computes: boolean
  /** For how long the first in the queue has waited. */
  waitedMs: number
  cores: number
}

/** Runs of this length get a child of their own at once. */
export const longMs = 20
/** Runs of this length do nothing but compute. */
const quickMs = 1
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
export function childrenWanted(demand: Demand): number {
  const { waiting, running, stuck, coming, expectedMs, waitedMs } = demand
  if (waiting === 0) return 0
  if (running + coming === 0) return 1
  if (expectedMs !== undefined && expectedMs >= longMs) return Math.max(0, waiting - coming)
  if (waitedMs < patienceMs) return 0
  // Nobody comes free soon: twice as many at each look.
  if (stuck === running) return Math.min(Math.max(0, waiting - coming), stuck + coming)
  if (coming > 0) return 0
  return running - stuck < roomFor(demand) ? 1 : 0
}

/** Of short runs that compute, more children than cores would only take them from each other. */
function roomFor({ expectedMs, computes, waitedMs, cores }: Demand): number {
  if (expectedMs === undefined || expectedMs < quickMs || computes) return cores
  return waitedMs >= longMs ? Infinity : cores * 4
}

/** The expectation after one more run: quick to rise, slow to forget. */
export function expectation(before: number | undefined, latest: number): number {
  return before === undefined ? latest : before + (latest - before) * 0.2
}

/** Blank children to keep at hand: more for a while after several were taken. */
export function sparesWanted(configured: number, takenLately: number): number {
  return Math.min(configured + takenLately, Math.max(configured, 4))
}
