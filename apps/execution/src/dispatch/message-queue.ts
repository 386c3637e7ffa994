/** Messages pushed on one side and read as a stream on the other, by one reader. */
export class MessageQueue<T> implements AsyncIterable<T> {
  readonly #messages: T[] = []
  #wake: (() => void) | undefined
  #closed = false
  #failure: Error | undefined

  push(message: T): void {
    if (this.#closed) return
    this.#messages.push(message)
    this.#wake?.()
  }

  /** What was pushed before is still read; then the stream ends, or throws. */
  close(failure?: Error): void {
    if (this.#closed) return
    this.#closed = true
    this.#failure = failure
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      while (this.#messages.length > 0) yield* this.#messages.splice(0)
      if (this.#failure !== undefined) throw this.#failure
      if (this.#closed) return
      await new Promise<void>((resolve) => (this.#wake = resolve))
      this.#wake = undefined
    }
  }
}
