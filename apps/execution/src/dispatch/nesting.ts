import type { RunLimits } from '../run-limits.ts'

/** Processes may call each other so deep. */
export const deepest = 16

/**
 * How deep in calls of each other the runs of a team must be that begin at this replica. A run that waits for another one
 * holds no slot, and nothing stops its code meanwhile: so where many wait, few may at each depth, the fewer the deeper.
 *
 * Something may always begin: where as many wait at some depth as may, what they wait for is deeper.
 */
export class Nesting {
  readonly #limits: Pick<RunLimits, 'running' | 'beginsOnlyOfRuns'>
  /** By team, how many runs wait for others, by their depth. */
  readonly #waiting = new Map<string, number[]>()

  constructor(limits: Pick<RunLimits, 'running' | 'beginsOnlyOfRuns'>) {
    this.#limits = limits
  }

  /** So many more runs of the team, called so deep, wait for others; fewer, where it is negative. */
  wait(team: string, depth: number, runs: number): void {
    const counts = this.#waiting.get(team) ?? Array.from({ length: deepest + 1 }, () => 0)
    counts[depth]! += runs
    if (counts.some((count) => count > 0)) this.#waiting.set(team, counts)
    else this.#waiting.delete(team)
  }

  /** What is called less deep is queued, and begins later. 0: all may begin. */
  leastDepth(team: string): number {
    const least = Number(this.#limits.beginsOnlyOfRuns(team))
    const counts = this.#waiting.get(team)
    if (counts === undefined) return least
    const most = 2 * this.#limits.running(team)
    const isMany = counts.reduce((sum, count) => sum + count, 0) >= most
    const fullDepth = !isMany ? -1 : counts.findLastIndex((count, depth) => count > 0 && count >= most / 2 ** depth)
    return Math.max(fullDepth + 1, least)
  }
}
