/** Messages pushed on one side, read as a stream on the other by one reader. */
export class Outbox<T> implements AsyncIterable<T> {
  #messages: T[] = []
  #wake: (() => void) | undefined
  #closed = false

  push(message: T): void {
    if (this.#closed) return
    this.#messages.push(message)
    this.#wake?.()
  }

  /** The stream ends after what was pushed before. */
  close(): void {
    this.#closed = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      const batch = this.#messages
      this.#messages = []
      yield* batch
      if (this.#messages.length > 0) continue
      if (this.#closed) return
      await new Promise<void>((resolve) => (this.#wake = resolve))
      this.#wake = undefined
    }
  }
}
