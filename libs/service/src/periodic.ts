import type { Logger } from 'pino'

/** Work that is done again and again, a pause after each time; a failure is logged and the next time tries again. */
export class Periodic {
  readonly #name: string
  readonly #everyMs: number
  readonly #work: (signal: AbortSignal) => Promise<void>
  readonly #logger: Logger
  readonly #stop = new AbortController()
  /** While it waits. */
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(name: string, everyMs: number, logger: Logger, work: (signal: AbortSignal) => Promise<void>) {
    this.#name = name
    this.#everyMs = everyMs
    this.#logger = logger
    this.#work = work
  }

  start(): void {
    if (this.#stop.signal.aborted) return
    this.#timer = setTimeout(() => this.#begin(), this.#everyMs)
    this.#timer.unref()
  }

  #begin(): void {
    this.#timer = undefined
    this.#running = this.#once().finally(() => this.start())
  }

  /** Does not wait for the next time. */
  soon(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#begin()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    clearTimeout(this.#timer)
    await this.#running
  }

  async #once(): Promise<void> {
    try {
      await this.#work(this.#stop.signal)
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.#logger.warn({ err: error, work: this.#name }, 'periodic work failed, trying again')
    }
  }
}
