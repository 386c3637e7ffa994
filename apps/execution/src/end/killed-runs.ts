import type { Logger } from '@automation/service'
import type { Partitions } from '../store/partitions.ts'
import type { Queries } from '../store/connections.ts'
import { addKilledUsage, type KilledRun } from '../store/run-counts.ts'

/**
 * What killed runs took. They end before their runner knows of it, and what they took follows, once: where it is lost, usage
 * lacks it.
 */
export class KilledRuns {
  readonly #pool: Queries
  readonly #partitions: Partitions
  readonly #logger: Logger

  /** `pool`: on which nobody waits for a run. */
  constructor(pool: Queries, partitions: Partitions, logger: Logger) {
    this.#pool = pool
    this.#partitions = partitions
    this.#logger = logger
  }

  /** A runner says what a run took that was killed; of another run nothing is noted. */
  used(run: KilledRun): void {
    void this.#add(run).catch((error: unknown) => {
      this.#logger.warn({ err: error, executionId: run.id }, 'what a killed run took is not in the usage')
    })
  }

  async #add(run: KilledRun): Promise<void> {
    if ((await this.#partitions.kept([run.id])).length > 0) await addKilledUsage(this.#pool, run)
  }
}
