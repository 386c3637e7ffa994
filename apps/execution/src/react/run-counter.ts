import { unavailable } from '@automation/errors'
import type { Logger } from '@automation/service'
import { driverError, type Connections } from '../store/connections.ts'
import { countRuns, findUncounted, readCountingLagMs } from '../store/run-counts.ts'
import { numbersAhead } from '../store/tracked-runs.ts'

/** About how many events one step counts; half as many after one that takes too long. */
const mostEvents = 5000
const leastEvents = 50

/** Figures that lack what is older are not given out, in ms. */
const mostLagMs = 10_000
/** What a reader waits for at most, in steps. */
const readersSteps = 4

/** Counts runs that have started and ended, for figures: one replica at a time, behind their events. */
export class RunCounter {
  readonly #connections: Connections
  readonly #logger: Logger
  #events = mostEvents
  #catchingUp: Promise<void> | undefined

  /** `connections`: on which nobody waits for a run. */
  constructor(connections: Connections, logger: Logger) {
    this.#connections = connections
    this.#logger = logger
  }

  /** Counts what there is, at most in so many steps. Where nothing has happened, nothing is written. */
  async count(signal?: AbortSignal, steps = Infinity): Promise<void> {
    for (let step = 0; step < steps && signal?.aborted !== true; step += 1) {
      const uncounted = await findUncounted(this.#connections)
      if (uncounted === undefined) return
      const added = await numbersAhead(this.#connections, this.#logger)
      // What is there is of transactions that go on, or have begun beside one that does.
      if (uncounted.horizon + added <= uncounted.from || !(await this.#step(added))) return
    }
  }

  /**
   * Counts what there is for somebody who reads the figures now. Failure unavailable where they would lack what happened
   * more than some seconds ago.
   */
  async catchUp(): Promise<void> {
    this.#catchingUp ??= this.count(undefined, readersSteps).finally(() => (this.#catchingUp = undefined))
    await this.#catchingUp
    const lagMs = await readCountingLagMs(this.#connections)
    if (lagMs > mostLagMs)
      throw unavailable('The figures are behind what has happened, try again in some seconds', undefined, 5)
  }

  async #step(added: bigint): Promise<boolean> {
    try {
      const goesOn = await countRuns(this.#connections, this.#events, added)
      this.#events = Math.min(this.#events * 2, mostEvents)
      return goesOn
    } catch (error) {
      if (driverError(error).code !== tookTooLong || this.#events === leastEvents) throw error
      this.#events = Math.max(Math.floor(this.#events / 2), leastEvents)
      return true
    }
  }
}

/** What PostgreSQL calls a statement that it has ended. */
const tookTooLong = '57014'
