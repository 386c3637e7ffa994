import type { LaneMetrics } from './metrics.ts'

export interface LaneOptions<I, O> {
  /** Writes all items with one statement and answers each, in their order. */
  flush(items: I[]): Promise<O[]>
  /** Items of one flush have the same group; absent: all may go together. */
  group?(item: I): string
  /** Size of an item in bytes, for the bound on one flush. */
  weight?(item: I): number
  /** Whether items that failed together may be tried one by one: nothing of the flush was written. */
  isolates(error: unknown): boolean
  /** Whether a failure is that of all that wait as well. */
  spreads?(error: unknown): boolean
  metrics: LaneMetrics
}

interface Entry<I, O> {
  item: I
  resolve(answer: O): void
  reject(error: unknown): void
}

const maxItems = 256
const maxWeight = 8 * 1024 * 1024

/**
 * Collects writes into multi-row statements: one flush is on its way, the next starts when it is back, with all that
 * has come meanwhile. An item that spoils its flush fails alone.
 */
export class Lane<I, O> {
  readonly #options: LaneOptions<I, O>
  #waiting: Entry<I, O>[] = []
  #running = false
  #idle: (() => void)[] = []

  constructor(options: LaneOptions<I, O>) {
    this.#options = options
  }

  add(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (!this.#running) {
        this.#running = true
        // The rest of this turn may add more.
        queueMicrotask(() => void this.#run())
      }
    })
  }

  /** Resolves when nothing is waiting and nothing is on its way. */
  idle(): Promise<void> {
    if (!this.#running) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) await this.#settle(this.#take())
    this.#running = false
    for (const done of this.#idle.splice(0)) done()
  }

  #take(): Entry<I, O>[] {
    const { group, weight } = this.#options
    const first = this.#waiting[0]!
    const name = group?.(first.item)
    let sum = 0
    let count = 0
    for (const { item } of this.#waiting) {
      if (count >= maxItems || (group !== undefined && group(item) !== name)) break
      sum += weight?.(item) ?? 0
      if (count > 0 && sum > maxWeight) break
      count += 1
    }
    return this.#waiting.splice(0, count)
  }

  async #settle(entries: Entry<I, O>[]): Promise<void> {
    const { flush, isolates, spreads, metrics } = this.#options
    const began = performance.now()
    try {
      const answers = await flush(entries.map(({ item }) => item))
      metrics.flushed(entries.length, performance.now() - began)
      entries.forEach(({ resolve }, index) => resolve(answers[index] as O))
    } catch (error) {
      metrics.failed()
      if (entries.length > 1 && isolates(error)) for (const entry of entries) await this.#settle([entry])
      else for (const { reject } of spreads?.(error) ? entries.concat(this.#waiting.splice(0)) : entries) reject(error)
    }
  }
}
