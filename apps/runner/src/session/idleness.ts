interface IdlenessOptions {
  /** Runs that are on, and results that nobody has yet. */
  busyWith(): number
  /** Whose the runner is; empty while it is nobody's: then it is kept for whoever comes. */
  team(): string
  /** 0: it never retires. */
  exitMs: number
  retire?(): void
}

const looksPerExit = 20

/**
 * How long a runner has had nothing to do. One that is a team's retires after a while of it, once: until it has stopped,
 * it still runs what was on its way.
 */
export class Idleness {
  readonly #options: IdlenessOptions
  #since = performance.now()
  #looks: NodeJS.Timeout | undefined

  constructor(options: IdlenessOptions) {
    this.#options = options
  }

  start(): void {
    const { exitMs } = this.#options
    if (exitMs > 0) this.#looks = setInterval(() => this.#look(), exitMs / looksPerExit)
  }

  stop(): void {
    clearInterval(this.#looks)
  }

  /** It has something to do, if only for a moment. */
  busy(): void {
    this.#since = performance.now()
  }

  /** How long it has had nothing to do, 0 while it has; and whose it is. */
  get state(): { idleMs: number; team: string } {
    const { busyWith, team } = this.#options
    if (busyWith() > 0) this.busy()
    return { idleMs: performance.now() - this.#since, team: team() }
  }

  #look(): void {
    const { exitMs, retire } = this.#options
    const { idleMs, team } = this.state
    if (idleMs < exitMs || team === '') return
    this.stop()
    retire?.()
  }
}
