import { TeamTurns, type Logger } from '@automation/service'
import { LRUCache } from 'lru-cache'
import type { Partitions } from '../store/partitions.ts'
import type { Queries } from '../store/connections.ts'
import { addKilledUsage, type KilledRun } from '../store/run-counts.ts'

/** What waits to be added of one teller; what comes beyond is left out. */
const mostWaiting = 1000
const mostKnown = 10_000

/**
 * What killed runs took. They end before their runner knows of it, and what they took follows, once: where it is lost, usage
 * lacks it. One is added after the other, so that many kills at once leave connections for the others, and those that tell
 * come in turn.
 */
export class KilledRuns {
  readonly #pool: Queries
  readonly #partitions: Partitions
  readonly #logger: Logger
  readonly #known = new LRUCache<string, true>({ max: mostKnown })
  readonly #waiting = new TeamTurns<KilledRun>()
  #isAdding = false

  /** `pool`: on which nobody waits for a run. */
  constructor(pool: Queries, partitions: Partitions, logger: Logger) {
    this.#pool = pool
    this.#partitions = partitions
    this.#logger = logger
  }

  /**
   * A runner says what a run took that was killed; of another run, or again, nothing is noted. `teller`: the team whose
   * runner it is alone, or the runner's session.
   */
  used(run: KilledRun, teller: string): void {
    const key = `${run.id} ${run.fence} ${run.sessionId}`
    if (this.#known.has(key) || this.#waiting.of(teller).length >= mostWaiting) return
    this.#known.set(key, true)
    this.#waiting.add(teller, run)
    if (!this.#isAdding) void this.#addAll()
  }

  async #addAll(): Promise<void> {
    this.#isAdding = true
    for (let run = this.#waiting.next(); run !== undefined; run = this.#waiting.next())
      try {
        await this.#add(run)
      } catch (error) {
        this.#logger.warn({ err: error, executionId: run.id }, 'what a killed run took is not in the usage')
      }
    this.#isAdding = false
  }

  async #add(run: KilledRun): Promise<void> {
    if ((await this.#partitions.kept([run.id])).length > 0) await addKilledUsage(this.#pool, run)
  }
}
