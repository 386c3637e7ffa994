import type { Batch } from './batch.ts'
import { positionText, type Position } from './position.ts'

/** One watched execution: its readers are woken together, and what one reads serves all that stand at the same cursor. */
export class Feed {
  readonly #id: string
  readonly #read: (id: string, from: Position) => Promise<Batch>
  readonly #waiting = new Set<() => void>()
  readonly #reading = new Map<string, Promise<ReadBatch>>()
  #latest: { from: string; read: ReadBatch } | undefined
  #news = 0
  readers = 0
  /** What the last look at the rows has found. */
  sign: string | undefined

  constructor(id: string, read: (id: string, from: Position) => Promise<Batch>) {
    this.#id = id
    this.#read = read
  }

  /** There may be something new. */
  wake(): void {
    this.#news += 1
    for (const go of [...this.#waiting]) go()
  }

  /** What is behind a position, and the state of the news from before it was read. */
  read(from: Position): Promise<ReadBatch> {
    const key = positionText(this.#id, from)
    if (this.#latest?.from === key) return Promise.resolve(this.#latest.read)
    const known = this.#reading.get(key)
    if (known !== undefined) return known
    const news = this.#news
    const reading = this.#read(this.#id, from)
      .then((batch) => this.#keep(key, { batch, news }))
      .finally(() => this.#reading.delete(key))
    this.#reading.set(key, reading)
    return reading
  }

  /** Returns once there are news behind these, after `ms`, or when the signal is aborted. */
  async changed(news: number, signal: AbortSignal, ms?: number): Promise<void> {
    if (this.#news !== news || signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(go, ms)
      const waiting = this.#waiting
      waiting.add(go)
      signal.addEventListener('abort', go, { once: true })
      function go() {
        clearTimeout(timer)
        waiting.delete(go)
        signal.removeEventListener('abort', go)
        resolve()
      }
    })
  }

  /** Kept for those who come to the same cursor a moment later; what is empty may not be so any more. */
  #keep(from: string, read: ReadBatch): ReadBatch {
    this.#latest = this.readers > 1 && read.batch.messages.length > 0 ? { from, read } : undefined
    return read
  }
}

export interface ReadBatch {
  batch: Batch
  news: number
}
