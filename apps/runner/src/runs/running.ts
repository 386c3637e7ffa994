import type { ActiveRun } from './active-run.ts'

/**
 * The runs of this runner, and how many of its places they take. A run that waits for another takes none, and gets one
 * again, before any new run, when the other has ended.
 */
export class RunningRuns {
  readonly #slots: number
  readonly #runs = new Map<string, ActiveRun>()
  readonly #waiting = new Set<ActiveRun>()
  readonly #resuming: { run: ActiveRun; go: () => void }[] = []

  constructor(slots: number) {
    this.#slots = slots
  }

  get(executionId: string): ActiveRun | undefined {
    return this.#runs.get(executionId)
  }

  add(run: ActiveRun): void {
    this.#runs.set(run.id, run)
  }

  remove(run: ActiveRun): void {
    this.#runs.delete(run.id)
    this.#waiting.delete(run)
    const at = this.#resuming.findIndex((each) => each.run === run)
    if (at >= 0) this.#resuming.splice(at, 1)[0]!.go()
    this.#resume()
  }

  /** It gives its place back. */
  waits(run: ActiveRun): void {
    if (this.#runs.has(run.id)) this.#waiting.add(run)
    this.#resume()
  }

  /** Resolves when it has a place again. */
  async goesOn(run: ActiveRun): Promise<void> {
    if (!this.#waiting.has(run)) return
    await new Promise<void>((go) => {
      this.#resuming.push({ run, go })
      this.#resume()
    })
  }

  /** Places that no run takes. */
  get free(): number {
    return this.#slots - (this.#runs.size - this.#waiting.size)
  }

  get size(): number {
    return this.#runs.size
  }

  [Symbol.iterator](): Iterator<ActiveRun> {
    return this.#runs.values()
  }

  #resume(): void {
    while (this.free > 0 && this.#resuming.length > 0) {
      const { run, go } = this.#resuming.shift()!
      this.#waiting.delete(run)
      go()
    }
  }
}
