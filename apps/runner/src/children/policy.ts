/** What is known of the children of one program when a run of it waits. Times in ms. */
export interface Demand {
  waiting: number
  running: number
  /** Children asked for that have not come yet. */
  coming: number
  /** Expected duration of a run; undefined while none has ended. */
  expectedMs: number | undefined
  /** For how long the longest of those that run has been running. */
  longestRunningMs: number
  /** For how long the first in the queue has waited. */
  waitedMs: number
  cores: number
}

/** Runs of this length get a child of their own at once. */
export const longMs = 20
/** Runs of this length do nothing but compute: no more children than cores. */
const quickMs = 1
/** Short runs wait so long for a child to come free before another is started. */
export const patienceMs = 4

/**
 * How many more children to ask for. Short runs share few children: a herd of them would only compete for the same
 * cores. Long ones mostly wait for something, so each gets its own.
 */
export function childrenWanted(demand: Demand): number {
  const { waiting, running, coming, expectedMs, longestRunningMs, waitedMs, cores } = demand
  if (waiting === 0) return 0
  if (running + coming === 0) return 1
  const isLong = longestRunningMs >= longMs || (expectedMs !== undefined && expectedMs >= longMs)
  if (isLong) return Math.max(0, waiting - coming)
  if (waitedMs < patienceMs || coming > 0) return 0
  return running < roomFor(expectedMs, waitedMs, cores) ? 1 : 0
}

function roomFor(expectedMs: number | undefined, waitedMs: number, cores: number): number {
  if (expectedMs !== undefined && expectedMs < quickMs) return cores
  return waitedMs >= longMs ? Infinity : cores * 4
}

/** The expectation after one more run: quick to rise, slow to forget. */
export function expectation(before: number | undefined, tookMs: number): number {
  return before === undefined ? tookMs : before + (tookMs - before) * 0.2
}

/** Blank children to keep at hand: more for a while after several were taken. */
export function sparesWanted(configured: number, takenLately: number): number {
  return Math.min(configured + takenLately, Math.max(configured, 4))
}
