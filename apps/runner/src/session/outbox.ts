/** Messages pushed on one side, read as a stream on the other by one reader. */
export class Outbox<T> implements AsyncIterable<T> {
  #messages: T[] = []
  #wake: (() => void) | undefined
  #closed = false
  readonly #sizeOf: (message: T) => number
  /** The size of what is not read yet. */
  unread = 0

  constructor(sizeOf: (message: T) => number = () => 0) {
    this.#sizeOf = sizeOf
  }

  push(message: T): void {
    if (this.#closed) return
    this.unread += this.#sizeOf(message)
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
      for (const message of batch) {
        yield message
        this.unread -= this.#sizeOf(message)
      }
      if (this.#messages.length > 0) continue
      if (this.#closed) return
      await new Promise<void>((resolve) => (this.#wake = resolve))
      this.#wake = undefined
    }
  }
}
