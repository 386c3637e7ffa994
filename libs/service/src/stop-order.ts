import type { Logger } from 'pino'

interface Stoppable {
  name: string
  stop(graceMs: number): unknown
}

/** What was started, to be stopped in reverse. */
export class StopOrder {
  readonly #started: Stoppable[] = []
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Notes how to stop what starts now; it is given what is left of the grace. */
  add(name: string, stop: (graceMs: number) => unknown): void {
    this.#started.push({ name, stop })
  }

  /** Stops all, one after the other, the last first. One that fails is logged and keeps none of the others from it. */
  async stop(graceMs: number): Promise<void> {
    const until = performance.now() + graceMs
    for (let one = this.#started.pop(); one !== undefined; one = this.#started.pop()) {
      const { name, stop } = one
      try {
        await stop(Math.max(0, Math.round(until - performance.now())))
      } catch (error) {
        this.#logger.error({ err: error, stopping: name }, 'stopping failed')
      }
    }
  }
}
