/** One item on its way, and who waits for its answer. */
interface Waiting<I, O> {
  item: I
  resolve(answer: O): void
  reject(error: unknown): void
}

/**
 * Does for many at once what each asks for alone: what comes while a call is on its way goes with the next one. `all`
 * answers each in its order; where it fails, all that were with it fail. Writes of which one may spoil the others, or that
 * change the same counts, go by the batch writer of execution, which finds that out.
 */
export class Batcher<I, O> {
  readonly #all: (items: I[]) => Promise<O[]>
  readonly #most: number
  #waiting: Waiting<I, O>[] = []
  #going = false

  constructor(most: number, all: (items: I[]) => Promise<O[]>) {
    this.#most = most
    this.#all = all
  }

  /** Nobody waits for it. */
  get isIdle(): boolean {
    return !this.#going
  }

  ask(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#going) return
      this.#going = true
      // The rest of this turn may ask as well.
      queueMicrotask(() => void this.#go())
    })
  }

  async #go(): Promise<void> {
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      try {
        const answers = await this.#all(batch.map(({ item }) => item))
        batch.forEach(({ resolve }, index) => resolve(answers[index]!))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#going = false
  }

  #take(): Waiting<I, O>[] {
    return this.#waiting.splice(0, this.#most)
  }
}

/** The same for each key by itself: what is slow or fails for one is nothing to the others. */
export class KeyedBatcher<K, I, O> {
  readonly #most: number
  readonly #keyOf: (item: I) => K
  readonly #all: (key: K, items: I[]) => Promise<O[]>
  readonly #byKey = new Map<K, Batcher<I, O>>()

  constructor(most: number, keyOf: (item: I) => K, all: (key: K, items: I[]) => Promise<O[]>) {
    this.#most = most
    this.#keyOf = keyOf
    this.#all = all
  }

  async ask(item: I): Promise<O> {
    const key = this.#keyOf(item)
    const batcher = this.#byKey.get(key) ?? new Batcher<I, O>(this.#most, (items) => this.#all(key, items))
    this.#byKey.set(key, batcher)
    try {
      return await batcher.ask(item)
    } finally {
      if (batcher.isIdle && this.#byKey.get(key) === batcher) this.#byKey.delete(key)
    }
  }
}
