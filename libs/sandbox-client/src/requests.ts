/** What is sent in a stream of requests, one at a time: `push` resolves when it has been taken. */
export class Requests<T> {
  #waiting: { item: T; taken: () => void }[] = []
  #wake: (() => void) | undefined
  #over = false

  push(item: T): Promise<void> {
    if (this.#over) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting.push({ item, taken: resolve })
      this.#wake?.()
    })
  }

  /** Nobody takes any more: whoever waits is let go. */
  close(): void {
    this.#over = true
    for (const { taken } of this.#waiting.splice(0)) taken()
    this.#wake?.()
  }

  /** Goes on until it is closed. */
  async *sent(): AsyncGenerator<T> {
    while (!this.#over) {
      const next = this.#waiting.shift()
      if (next === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve))
        continue
      }
      try {
        yield next.item
      } finally {
        // The next one is asked for when this one has been passed on; or none, when nobody takes any more.
        next.taken()
      }
    }
  }
}
