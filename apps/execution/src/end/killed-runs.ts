import type { Logger } from '@automation/service'
import { LRUCache } from 'lru-cache'
import type { Partitions } from '../store/partitions.ts'
import type { Queries } from '../store/connections.ts'
import { addKilledUsage, type KilledRun } from '../store/run-counts.ts'

/** What waits to be added; what comes beyond is left out. */
const mostWaiting = 10_000
const mostKnown = 10_000

/**
 * What killed runs took. They end before their runner knows of it, and what they took follows, once: where it is lost, usage
 * lacks it. One is added after the other, so that many kills at once leave connections for the others.
 */
export class KilledRuns {
  readonly #pool: Queries
  readonly #partitions: Partitions
  readonly #logger: Logger
  readonly #known = new LRUCache<string, true>({ max: mostKnown })
  readonly #waiting: KilledRun[] = []
  #isAdding = false

  /** `pool`: on which nobody waits for a run. */
  constructor(pool: Queries, partitions: Partitions, logger: Logger) {
    this.#pool = pool
    this.#partitions = partitions
    this.#logger = logger
  }

  /** A runner says what a run took that was killed; of another run, or again, nothing is noted. */
  used(run: KilledRun): void {
    const key = `${run.id} ${run.fence} ${run.sessionId}`
    if (this.#known.has(key) || this.#waiting.length >= mostWaiting) return
    this.#known.set(key, true)
    this.#waiting.push(run)
    if (!this.#isAdding) void this.#addAll()
  }

  async #addAll(): Promise<void> {
    this.#isAdding = true
    for (let run = this.#waiting.shift(); run !== undefined; run = this.#waiting.shift())
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
