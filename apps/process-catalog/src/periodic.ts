import type { Logger } from '@automation/service'

/** Does something again and again, never twice at once; a failure is logged and the next turn tries again. */
export class Periodic {
  readonly #what: string
  readonly #everyMs: number
  readonly #task: () => Promise<void>
  readonly #logger: Logger
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined

  constructor(what: string, everyMs: number, task: () => Promise<void>, logger: Logger) {
    this.#what = what
    this.#everyMs = everyMs
    this.#task = task
    this.#logger = logger
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#turn(), this.#everyMs).unref()
  }

  /** No further turn starts; waits for the one under way. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    await this.#running
  }

  #turn(): Promise<void> {
    this.#running ??= this.#task()
      .catch((error: unknown) => this.#logger.warn({ err: error }, `${this.#what} failed, to be tried again`))
      .finally(() => (this.#running = undefined))
    return this.#running
  }
}
