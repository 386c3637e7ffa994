import { setImmediate } from 'node:timers/promises'

// No call waits for longer than about that.
const turnMs = 1

/** For a loop over much: lets this process do other things after each millisecond. */
export class EventLoopTurns {
  #since = performance.now()
  #spentMs = 0

  /** What the loop has taken so far, without the others. */
  get spentMs(): number {
    return this.#spentMs + performance.now() - this.#since
  }

  async next(): Promise<void> {
    const tookMs = performance.now() - this.#since
    if (tookMs < turnMs) return
    this.#spentMs += tookMs
    await setImmediate()
    this.#since = performance.now()
  }
}
