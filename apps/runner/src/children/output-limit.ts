import type { Readable } from 'node:stream'

// What is thrown away is read at about this rate: reading it takes time from everybody.
const bytesAtOnce = 256 * 1024
const pauseMs = 5

type Pausable = Pick<Readable, 'pause' | 'resume'>

/** Slows down a child that prints what nobody keeps, beyond the limits of the log or of a line. */
export class OutputLimit {
  readonly #outputs: readonly Pausable[]
  #bytes = 0
  #paused = false

  constructor(...outputs: Pausable[]) {
    this.#outputs = outputs
  }

  /** Whether something that it has printed may be unread. */
  get isPaused(): boolean {
    return this.#paused
  }

  /** A run begins. */
  begin(): void {
    this.#bytes = 0
  }

  /** So many bytes were thrown away. */
  dropped(bytes: number): void {
    if (this.#paused) return
    this.#bytes += bytes
    if (this.#bytes < bytesAtOnce) return
    this.#bytes = 0
    this.#paused = true
    for (const output of this.#outputs) output.pause()
    setTimeout(() => this.resume(), pauseMs)
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    for (const output of this.#outputs) output.resume()
  }
}
