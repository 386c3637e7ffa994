/** One read for many askers. */
interface Batch<K, V> {
  keys: Set<K>
  values: Promise<Map<K, V>>
  start(): void
}

/**
 * Turns many single reads into few reads of many keys: what arrives while a read is under way shares the next one, which
 * starts when that is back. So every asker gets an answer that was read after it asked.
 */
export class Coalesced<K, V> {
  readonly #read: (keys: K[]) => Promise<Map<K, V>>
  #running = false
  #next: Batch<K, V> | undefined

  constructor(read: (keys: K[]) => Promise<Map<K, V>>) {
    this.#read = read
  }

  async get(key: K): Promise<V | undefined> {
    this.#next ??= this.#newBatch()
    const batch = this.#next
    batch.keys.add(key)
    if (!this.#running) this.#startNext()
    return (await batch.values).get(key)
  }

  #newBatch(): Batch<K, V> {
    const keys = new Set<K>()
    const { promise, resolve } = Promise.withResolvers<Map<K, V>>()
    return { keys, values: promise, start: () => resolve(this.#read([...keys]).finally(() => this.#startNext())) }
  }

  #startNext(): void {
    const batch = this.#next
    this.#next = undefined
    this.#running = batch !== undefined
    batch?.start()
  }
}
