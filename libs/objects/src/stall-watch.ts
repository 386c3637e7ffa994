/** Notices a store that does not go on: its promise is rejected when the store is to act for longer than it may. */
export class StallWatch {
  /** Never resolves. */
  readonly stalled: Promise<never>
  readonly #withinMs: number
  readonly #reject: (reason: Error) => void
  #timer: NodeJS.Timeout | undefined

  constructor(withinMs: number) {
    this.#withinMs = withinMs
    const { promise, reject } = Promise.withResolvers<never>()
    this.stalled = promise
    this.#reject = reject
    promise.catch(() => undefined)
  }

  /** From now on it is the store's turn. */
  begin(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#reject(new Error(`No answer within ${this.#withinMs} ms`)), this.#withinMs)
  }

  /** It is somebody else's turn, or over. */
  end(): void {
    clearTimeout(this.#timer)
  }
}
