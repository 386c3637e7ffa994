/** Pieces from one who gives to one who takes: each is given only when the one before was taken. */
export class HandOver implements AsyncIterable<Uint8Array> {
  #given: { piece: Uint8Array | undefined; taken: () => void } | undefined
  #failure: Error | undefined
  #wake: (() => void) | undefined

  /** Resolves when the piece was taken, or nobody will. */
  give(piece: Uint8Array): Promise<void> {
    return this.#put(piece)
  }

  /** There is no more. */
  end(): void {
    void this.#put(undefined)
  }

  /** There is no more, and what was given is not all. */
  fail(reason: Error): void {
    this.#failure ??= reason
    this.#given?.taken()
    this.#wake?.()
  }

  #put(piece: Uint8Array | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (this.#failure !== undefined) resolve()
    else this.#given = { piece, taken: resolve }
    this.#wake?.()
    return promise
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    for (;;) {
      while (this.#given === undefined && this.#failure === undefined)
        await new Promise<void>((resolve) => (this.#wake = resolve))
      if (this.#failure !== undefined) throw this.#failure
      const { piece, taken } = this.#given!
      this.#given = undefined
      if (piece === undefined) return
      taken()
      yield piece
    }
  }
}
