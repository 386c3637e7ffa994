interface Waiting<T> {
  item: T
  bytes: number
}

/**
 * Hands items from those who produce them by events to one who reads them in turn. `full` tells the producers to pause,
 * `onRoom` when to go on.
 */
export class BoundedQueue<T> {
  readonly #most: number
  readonly #onRoom: () => void
  #waiting: Waiting<T>[] = []
  #bytes = 0
  #ended = false
  #failure: Error | undefined
  #wake: (() => void) | undefined

  constructor(most: number, onRoom: () => void = () => undefined) {
    this.#most = most
    this.#onRoom = onRoom
  }

  get full(): boolean {
    return this.#bytes >= this.#most
  }

  get last(): T | undefined {
    return this.#waiting.at(-1)?.item
  }

  /** `bytes` is what the item counts for. */
  push(item: T, bytes: number): void {
    if (this.#ended) return
    this.#waiting.push({ item, bytes })
    this.#bytes += bytes
    this.#wake?.()
  }

  /** Forgets what waits. */
  clear(): void {
    this.#waiting = []
    this.#bytes = 0
  }

  /** After what waits the reading ends, or throws. */
  end(failure?: Error): void {
    if (this.#ended) return
    this.#ended = true
    this.#failure = failure
    this.#wake?.()
  }

  async *read(): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) {
        const wasFull = this.full
        this.#bytes -= next.bytes
        if (wasFull && !this.full) this.#onRoom()
        yield next.item
      } else if (this.#failure !== undefined) {
        throw this.#failure
      } else if (this.#ended) {
        return
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    }
  }
}
