import { pause, type Logger } from '@automation/service'
import { whilePatient } from '../dispatch/patience.ts'
import type { Queries } from '../store/connections.ts'
import { readStartOutcomes } from '../store/executions.ts'
import { statementTimeoutMs } from '../store/pools.ts'
import type { StartOutcome } from '../store/start-rows.ts'

interface UnknownStartsContext<I> {
  pool: Queries
  logger: Logger
  settle(item: I, outcome: StartOutcome): void
  giveBack(item: I): void
}

const lookMs = 200

/**
 * Starts that were refused and may have been committed, now or a little later: what they made RUNNING is ours to assign.
 * Their slots are kept until that is known. All are looked for with one statement, as the database may be slow.
 */
export class UnknownStarts<I extends { run: { id: string } }> {
  readonly #context: UnknownStartsContext<I>
  /** By the id of the run, and until when. */
  readonly #items = new Map<string, { item: I; latestMs: number }>()
  #isLooking = false

  constructor(context: UnknownStartsContext<I>) {
    this.#context = context
  }

  add(item: I): void {
    this.#items.set(item.run.id, { item, latestMs: performance.now() + statementTimeoutMs })
    if (!this.#isLooking) void this.#look()
  }

  /** Returns when of those that are there nothing is unknown any more. */
  async idle(): Promise<void> {
    const ids = [...this.#items.keys()]
    while (ids.some((id) => this.#items.has(id))) await pause(lookMs)
  }

  async #look(): Promise<void> {
    const { pool, logger, settle, giveBack } = this.#context
    this.#isLooking = true
    while (this.#items.size > 0) {
      const ids = [...this.#items.keys()]
      try {
        const outcomes = await whilePatient(() => readStartOutcomes(pool, ids))
        for (const outcome of outcomes) {
          settle(this.#items.get(outcome.id)!.item, outcome)
          this.#items.delete(outcome.id)
        }
        const nowMs = performance.now()
        for (const id of ids) if ((this.#items.get(id)?.latestMs ?? nowMs) < nowMs) giveBack(this.#take(id))
      } catch (error) {
        // What they made RUNNING all the same is never named by its runner, and ends as lost.
        const left = ids.filter((id) => this.#items.has(id))
        for (const id of left) giveBack(this.#take(id))
        logger.warn({ err: error, executionIds: left }, 'starts could not be completed')
      }
      if (this.#items.size > 0) await pause(lookMs)
    }
    // In the same turn as the last look at what there is.
    this.#isLooking = false
  }

  #take(id: string): I {
    const { item } = this.#items.get(id)!
    this.#items.delete(id)
    return item
  }
}
