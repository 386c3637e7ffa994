/** What is sent in a stream of requests, one at a time: `push` resolves when it has been taken. */
export class Requests<T> {
  #waiting: { item: T; taken: () => void }[] = []
  #wake: (() => void) | undefined

  push(item: T): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ item, taken: resolve })
      this.#wake?.()
    })
  }

  /** Goes on until its reader stops. */
  async *sent(): AsyncGenerator<T> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve))
        continue
      }
      yield next.item
      // The next one is asked for when this one has been passed on.
      next.taken()
    }
  }
}
