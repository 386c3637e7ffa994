import { setTimeout } from 'node:timers/promises'

const everyMs = 100
// Requests share their machine with this program and all that it starts.
const mostMs = 5000

/** Asks whether the service lives while others send to it. */
export class Pulse {
  readonly #url: string
  #isOver = false
  #longestMs = 0
  #unanswered: string | undefined
  readonly #asking: Promise<void>

  constructor(host: string) {
    this.#url = `${host}/livez`
    this.#asking = this.#ask()
  }

  /** Ends it. Says what was wrong, in words. */
  async stop(): Promise<string[]> {
    this.#isOver = true
    await this.#asking
    console.log(`/livez took ${Math.round(this.#longestMs)} ms at most`)
    const slow = this.#longestMs > mostMs ? `/livez took ${Math.round(this.#longestMs)} ms while bodies were read` : []
    return [this.#unanswered ?? [], slow].flat()
  }

  async #ask(): Promise<void> {
    while (!this.#isOver) {
      const began = performance.now()
      try {
        await (await fetch(this.#url)).arrayBuffer()
      } catch (error) {
        this.#unanswered ??= `/livez gives no answer: ${String((error as Error).cause ?? error)}`
      }
      this.#longestMs = Math.max(this.#longestMs, performance.now() - began)
      await setTimeout(everyMs)
    }
  }
}
