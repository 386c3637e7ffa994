import { asFailure } from '@automation/errors'
import type { Logger } from 'pino'
import type { Counter } from 'prom-client'

const windowMs = 60_000
const collectedMs = 250

/** What rows are counted by, and how many a minute there may be. */
type RowBound = readonly [key: string, most: number]

interface BoundedRowsOptions<Row> {
  /** Writes some at once; gives how many of them are kept. */
  write: (rows: Row[]) => Promise<number>
  /** Rows by outcome: written, dropped. */
  counter: Counter<'outcome'>
  logger: Logger
  /** Which rows these are, in words of the log. */
  what: string
}

/**
 * Writes rows that strangers may cause: in batches and behind the answers, so that no caller waits for them, and only as
 * many as a flood may cost. What is beyond that, or can't be written, is left out.
 */
export class BoundedRows<Row> {
  readonly #options: BoundedRowsOptions<Row>
  readonly #windows = new Map<string, { count: number; endsMs: number }>()
  #sweptMs = 0
  #waiting: Row[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined

  constructor(options: BoundedRowsOptions<Row>) {
    this.#options = options
  }

  /** Takes a row for writing, unless one of its bounds is reached. */
  note(row: Row, bounds: readonly RowBound[]): void {
    if (bounds.some(([key, most]) => this.count(key) >= most)) return this.#options.counter.inc({ outcome: 'dropped' })
    for (const [key] of bounds) this.#add(key)
    this.#waiting.push(row)
    this.#plan()
  }

  /** How many rows were taken by a key within the minute that began with the first one. */
  count(key: string): number {
    const window = this.#windows.get(key)
    return window === undefined || performance.now() >= window.endsMs ? 0 : window.count
  }

  /** Ends when all that was noted before is written or given up: who reads then finds it. */
  async written(): Promise<void> {
    await this.#writing
    if (this.#writing === undefined && this.#waiting.length > 0) this.#begin()
    await this.#writing
  }

  /** Writes what is waiting, once. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#writing
    if (this.#waiting.length > 0) await this.#write()
    clearTimeout(this.#timer)
  }

  #add(key: string): void {
    const nowMs = performance.now()
    if (nowMs >= this.#sweptMs + windowMs) {
      this.#sweptMs = nowMs
      for (const [each, { endsMs }] of this.#windows) if (nowMs >= endsMs) this.#windows.delete(each)
    }
    const count = this.count(key)
    const endsMs = count === 0 ? nowMs + windowMs : this.#windows.get(key)!.endsMs
    this.#windows.set(key, { count: count + 1, endsMs })
  }

  #plan(): void {
    if (this.#timer !== undefined || this.#writing !== undefined) return
    this.#timer = setTimeout(() => this.#begin(), collectedMs)
    this.#timer.unref()
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined
      if (this.#waiting.length > 0) this.#plan()
    })
  }

  async #write(): Promise<void> {
    const { write, counter, logger, what } = this.#options
    const rows = this.#waiting.splice(0)
    try {
      counter.inc({ outcome: 'written' }, await write(rows))
    } catch (error) {
      counter.inc({ outcome: 'dropped' }, rows.length)
      logger.warn({ err: asFailure(error).cause ?? error, count: rows.length }, `${what} were not kept`)
    }
  }
}
