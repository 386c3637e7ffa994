interface Waiting<T> {
  message: T
  size: number
  passedOn: (() => void) | undefined
}

/** Messages pushed on one side and read as a stream on the other, by one reader, each when the one before is passed on. */
export class MessageQueue<T> implements AsyncIterable<T> {
  #waiting: Waiting<T>[] = []
  #wake: (() => void) | undefined
  #isClosed = false
  #failure: Error | undefined
  readonly #sizeOf: (message: T) => number
  /** The size of what is not passed on yet. */
  unread = 0

  constructor(sizeOf: (message: T) => number = () => 0) {
    this.#sizeOf = sizeOf
  }

  /** `passedOn` is called when the reader is done with the message, or nobody will read it. */
  push(message: T, passedOn?: () => void): void {
    if (this.#isClosed) return passedOn?.()
    const size = this.#sizeOf(message)
    this.unread += size
    this.#waiting.push({ message, size, passedOn })
    this.#wake?.()
  }

  /** Pushes a message; resolves when it is passed on, or nobody will read it. */
  pass(message: T): Promise<void> {
    return new Promise((resolve) => this.push(message, resolve))
  }

  /** The message that was pushed last, if it waits still. */
  get last(): T | undefined {
    return this.#waiting.at(-1)?.message
  }

  /** Drops what waits. */
  clear(): void {
    for (const { size, passedOn } of this.#waiting.splice(0)) {
      this.unread -= size
      passedOn?.()
    }
  }

  /** What was pushed before is still read; then the stream ends, or throws. */
  close(failure?: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#failure ??= failure
    this.#wake?.()
  }

  /** Drops what waits: the stream ends, or throws, at once, also where it was closed before. */
  abort(failure?: Error): void {
    this.clear()
    this.#failure ??= failure
    this.close()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) {
        try {
          yield next.message
        } finally {
          this.unread -= next.size
          next.passedOn?.()
        }
      } else if (this.#failure !== undefined) throw this.#failure
      else if (this.#isClosed) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
