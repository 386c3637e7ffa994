/** One direction of a stream: what one side puts in, the other takes out in order. */
export class Pipe<T> implements AsyncIterable<T> {
  readonly #items: T[] = []
  #end: { error?: Error } | undefined
  #wake: (() => void) | undefined

  put(item: T): void {
    if (this.#end !== undefined) return
    this.#items.push(item)
    this.#wake?.()
  }

  /** Nothing more comes; with an error, who takes out gets that behind all the rest. */
  close(error?: Error): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      const item = this.#items.shift()
      if (item !== undefined) yield item
      else if (this.#end?.error !== undefined) throw this.#end.error
      else if (this.#end !== undefined) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
