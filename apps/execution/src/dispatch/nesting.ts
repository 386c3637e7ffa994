import { Tally } from '@automation/service'
import type { RunLimits } from '../run-limits.ts'
import type { Runners } from './runners.ts'

/** Processes may call each other so deep. */
export const deepest = 16

/** How many levels of calls each add room for as many runs as the team may have at work. */
const fullLevels = 2

/**
 * Which runs of a team may begin at this replica. Who waits for another run holds no slot, and nothing stops its code: so
 * runs that wait count here as well, and the more there are, the deeper in calls of each other must be what begins.
 *
 * Something always may: each level has room for one more than the one above it, so where there is none for a level, a run of
 * the level above it is here, and what that waits for has room.
 */
export class Nesting {
  readonly #runners: Pick<Runners, 'inFlight'>
  readonly #limits: Pick<RunLimits, 'running'>
  /** Runs that are about to be handed over, by team. */
  readonly #coming = new Tally()

  constructor(runners: Pick<Runners, 'inFlight'>, limits: Pick<RunLimits, 'running'>) {
    this.#runners = runners
    this.#limits = limits
  }

  /** So many runs of the team are about to be handed over; fewer, where it is negative. */
  comes(team: string, runs: number): void {
    this.#coming.add(team, runs)
  }

  /** What is called less deep than this may not begin now; one more than the deepest where nothing may. */
  leastDepth(team: string): number {
    let depth = 0
    while (depth <= deepest && this.room(team, depth) === 0) depth += 1
    return depth
  }

  /** How many runs may begin that are called so deep. */
  room(team: string, depth: number): number {
    const most = this.#limits.running(team) * (2 + Math.min(depth, fullLevels)) + depth
    return Math.max(0, most - this.#runners.inFlight(team) - this.#coming.of(team))
  }
}
