import type { BatchMetrics } from '../metrics.ts'

export interface BatchWriterOptions<I, O> {
  /** Writes all items with one statement and answers each, in their order. */
  flush(items: I[]): Promise<O[]>
  /** Items of one flush have the same group; absent: all may go together. */
  group?(item: I): string
  /**
   * Whose an item is. Those of one owner are in one flush at a time, as they change the same counts; what others bring
   * meanwhile need not wait for that: it goes with a flush of its own, as far as `width` goes.
   */
  owner?(item: I): string
  /** The most flushes on their way; 1 unless it is given. */
  width?: number
  /** Size of an item in bytes, for the bound on one flush. */
  weight?(item: I): number
  /** Whether items that failed together may be tried one by one: nothing of the flush was written. */
  isolates(error: unknown): boolean
  /** Whether a failure is that of all that wait as well. */
  spreads?(error: unknown): boolean
  metrics: BatchMetrics
}

interface Entry<I, O> {
  item: I
  resolve(answer: O): void
  reject(error: unknown): void
}

const maxItems = 256
const maxWeight = 8 * 1024 * 1024

/**
 * Collects writes into multi-row statements: while a flush is on its way, what comes waits for the next one. An item
 * that spoils its flush fails alone.
 */
export class BatchWriter<I, O> {
  readonly #options: BatchWriterOptions<I, O>
  readonly #width: number
  #waiting: Entry<I, O>[] = []
  /** Owners of what is on its way, for each flush. */
  readonly #flushes = new Set<Set<string>>()
  #planned = false
  #idle: (() => void)[] = []

  constructor(options: BatchWriterOptions<I, O>) {
    this.#options = options
    this.#width = options.width ?? 1
  }

  add(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#planned || !this.#mayGo(item)) return
      this.#planned = true
      // The rest of this turn may add more.
      queueMicrotask(() => {
        this.#planned = false
        this.#go()
      })
    })
  }

  /** Resolves when nothing is waiting and nothing is on its way. */
  idle(): Promise<void> {
    if (this.#waiting.length === 0 && this.#flushes.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  #mayGo(item: I): boolean {
    if (this.#flushes.size >= this.#width) return false
    const owner = this.#ownerOf(item)
    for (const owners of this.#flushes) if (owners.has(owner)) return false
    return true
  }

  #ownerOf(item: I): string {
    return this.#options.owner?.(item) ?? ''
  }

  #go(): void {
    for (let entries = this.#take(); entries.length > 0; entries = this.#take()) {
      const owners = new Set(entries.map(({ item }) => this.#ownerOf(item)))
      this.#flushes.add(owners)
      void this.#settle(entries).finally(() => {
        this.#flushes.delete(owners)
        this.#go()
      })
    }
    if (this.#waiting.length > 0 || this.#flushes.size > 0) return
    for (const done of this.#idle.splice(0)) done()
  }

  /** What goes with the next flush, in the order in which it came; nothing while there is no room for one. */
  #take(): Entry<I, O>[] {
    const { group, weight } = this.#options
    const first = this.#waiting.find(({ item }) => this.#mayGo(item))
    if (first === undefined) return []
    const name = group?.(first.item)
    const taken: Entry<I, O>[] = []
    let left: Entry<I, O>[] = []
    let sum = 0
    for (const [at, entry] of this.#waiting.entries()) {
      const { item } = entry
      if (!this.#mayGo(item) || group?.(item) !== name) {
        left.push(entry)
        continue
      }
      sum += weight?.(item) ?? 0
      if (taken.length === maxItems || (taken.length > 0 && sum > maxWeight)) {
        left = left.concat(this.#waiting.slice(at))
        break
      }
      taken.push(entry)
    }
    this.#waiting = left
    return taken
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
