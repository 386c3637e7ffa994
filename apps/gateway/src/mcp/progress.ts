const mostEveryMs = 250
const silentMs = 10_000

/** Tells a client how a run goes on: what is new at most four times a second, and that it goes on every ten seconds. */
export class Progress {
  readonly #tell: (progress: number, message: string) => void
  readonly #timer: NodeJS.Timeout
  #count = 0
  #news: string | undefined
  #last: string
  #notifiedAtMs = performance.now()

  /** `tell` gets a number that grows, and words. */
  constructor(first: string, tell: (progress: number, message: string) => void) {
    this.#tell = tell
    this.#last = first
    this.#timer = setInterval(() => this.#look(), mostEveryMs)
  }

  /** Something is new; of what comes at once the last is told. */
  news(message: string): void {
    this.#news = message
  }

  end(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const isSilent = performance.now() - this.#notifiedAtMs >= silentMs
    if (this.#news === undefined && !isSilent) return
    this.#last = this.#news ?? this.#last
    this.#news = undefined
    this.#notifiedAtMs = performance.now()
    this.#count += 1
    this.#tell(this.#count, this.#last)
  }
}
