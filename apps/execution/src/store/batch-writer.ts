import type { BatchMetrics } from '../metrics.ts'

interface BatchWriterOptions<I, O> {
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
  /** Whether items that failed together may be tried apart, owner by owner, then one by one: nothing of the flush was written. */
  isolates(error: unknown): boolean
  /** Whether what failed so is tried again, apart, until it is written or fails in another way. */
  repeats?(error: unknown): boolean
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
  /** Of what is on its way. */
  readonly #owners = new Set<string>()
  #flushes = 0
  /** By owner, what is tried again; the first one now. */
  readonly #repeated: [owner: string, own: Entry<I, O>[]][] = []
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
    if (this.#waiting.length === 0 && this.#owners.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  #mayGo(item: I): boolean {
    return this.#flushes < this.#width && !this.#owners.has(this.#ownerOf(item))
  }

  #ownerOf(item: I): string {
    return this.#options.owner?.(item) ?? ''
  }

  #go(): void {
    for (let entries = this.#take(); entries.length > 0; entries = this.#take()) {
      void this.#flush(
        Map.groupBy(entries, ({ item }) => this.#ownerOf(item)),
        entries,
      )
    }
    if (this.#waiting.length > 0 || this.#owners.size > 0) return
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

  async #flush(byOwner: Map<string, Entry<I, O>[]>, entries: Entry<I, O>[]): Promise<void> {
    for (const owner of byOwner.keys()) this.#owners.add(owner)
    this.#flushes += 1
    const isOfOne = byOwner.size === 1
    const result = await this.#write(entries)
    this.#flushes -= 1
    if (result === 'answered') for (const owner of byOwner.keys()) this.#owners.delete(owner)
    else if (result === 'repeat' && isOfOne) for (const [owner, own] of byOwner) void this.#repeat(owner, own)
    // From here on the trouble of one holds up no other.
    else for (let count = 0; count < this.#width; count++) void this.#writeApart(byOwner, isOfOne)
    this.#go()
  }

  /** Takes one owner after the other, until none is left. */
  async #writeApart(byOwner: Map<string, Entry<I, O>[]>, isOfOne: boolean): Promise<void> {
    for (const [owner, own] of byOwner) {
      byOwner.delete(owner)
      await this.#writeOwn(owner, own, isOfOne)
    }
  }

  async #writeOwn(owner: string, own: Entry<I, O>[], hasFailed = false): Promise<void> {
    const result = hasFailed ? 'apart' : await this.#write(own)
    if (result === 'repeat') return void this.#repeat(owner, own)
    if (result === 'apart')
      for (const [at, entry] of own.entries())
        if ((await this.#write([entry])) === 'repeat') return void this.#repeat(owner, own.slice(at))
    this.#owners.delete(owner)
    this.#go()
  }

  /** Owners take turns at a single place, outside of `width`: none holds up another for longer than one attempt. */
  async #repeat(owner: string, own: Entry<I, O>[]): Promise<void> {
    if (this.#repeated.push([owner, own]) > 1) return
    for (let next = this.#repeated[0]; next !== undefined; next = this.#repeated[0]) {
      await this.#writeOwn(...next)
      this.#repeated.shift()
    }
  }

  /** `answered`: all have an answer, be it a failure; else nothing was written. */
  async #write(entries: Entry<I, O>[]): Promise<'answered' | 'apart' | 'repeat'> {
    const { flush, isolates, repeats, spreads, metrics } = this.#options
    const began = performance.now()
    try {
      const answers = await flush(entries.map(({ item }) => item))
      metrics.flushed(entries.length, performance.now() - began)
      entries.forEach(({ resolve }, index) => resolve(answers[index] as O))
    } catch (error) {
      metrics.failed()
      if (repeats?.(error)) return 'repeat'
      if (entries.length > 1 && isolates(error)) return 'apart'
      for (const { reject } of spreads?.(error) ? entries.concat(this.#waiting.splice(0)) : entries) reject(error)
    }
    return 'answered'
  }
}
