import { pause, type Logger } from '@automation/service'
import { passes } from '../dispatch/patience.ts'
import type { Queries } from '../store/connections.ts'
import { readStartOutcomes } from '../store/executions.ts'
import { statementTimeoutMs } from '../store/pools.ts'
import type { StartOutcome } from '../store/start-rows.ts'

interface UnknownStartsContext<I> {
  pool: Queries
  logger: Logger
  /** Nothing is looked for any more. */
  signal: AbortSignal
  settle(item: I, outcome: StartOutcome): void
  giveBack(item: I): void
}

interface Known<I> {
  item: I
  /** Until when it may be committed; undefined where the database has not answered since. */
  latestMs?: number
}

const lookMs = 200

/**
 * Starts that were refused and may have been committed, now or a little later: what they made RUNNING is ours to assign.
 * Their slots are kept until that is known, however long the database is away, so there are no more of them than slots. All
 * are looked for with one statement, as the database may be slow.
 */
export class UnknownStarts<I extends { run: { id: string } }> {
  readonly #context: UnknownStartsContext<I>
  /** By the id of the run. */
  readonly #items = new Map<string, Known<I>>()
  #isLooking = false

  constructor(context: UnknownStartsContext<I>) {
    this.#context = context
  }

  add(item: I): void {
    this.#items.set(item.run.id, { item })
    if (!this.#isLooking) void this.#look()
  }

  /** Returns when of those that are there nothing is unknown any more, or is looked for. */
  async idle(): Promise<void> {
    const { signal } = this.#context
    const ids = [...this.#items.keys()]
    while (!signal.aborted && ids.some((id) => this.#items.has(id))) await pause(lookMs)
  }

  async #look(): Promise<void> {
    const { signal } = this.#context
    this.#isLooking = true
    while (this.#items.size > 0 && !signal.aborted) {
      await this.#lookOnce([...this.#items.keys()])
      if (this.#items.size > 0) await pause(lookMs)
    }
    // In the same turn as the last look at what there is.
    this.#isLooking = false
  }

  async #lookOnce(ids: string[]): Promise<void> {
    const { pool, logger, settle, giveBack } = this.#context
    // What is committed while it looks it may not see.
    const seenMs = performance.now()
    try {
      for (const outcome of await readStartOutcomes(pool, ids)) settle(this.#take(outcome.id), outcome)
      for (const id of ids) {
        const known = this.#items.get(id)
        if (known === undefined) continue
        known.latestMs ??= performance.now() + statementTimeoutMs
        if (known.latestMs < seenMs) giveBack(this.#take(id))
      }
    } catch (error) {
      // What stood still along with the database has all of its time again.
      if (passes(error)) return this.#items.forEach((known) => (known.latestMs = undefined))
      // What they made RUNNING all the same is never named by its runner, and ends as lost.
      const left = ids.filter((id) => this.#items.has(id))
      for (const id of left) giveBack(this.#take(id))
      logger.warn({ err: error, executionIds: left }, 'starts could not be completed')
    }
  }

  #take(id: string): I {
    const { item } = this.#items.get(id)!
    this.#items.delete(id)
    return item
  }
}
