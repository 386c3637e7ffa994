const room = 10_000

/** Runs that were killed before they were handed over here: the kill may come by another replica. The oldest go first. */
export class UnwantedRuns {
  readonly #ids = new Set<string>()

  add(executionId: string): void {
    this.#ids.add(executionId)
    if (this.#ids.size > room) this.#ids.delete(this.#ids.values().next().value!)
  }

  /** Whether this run was killed; it is handed over only once. */
  take(executionId: string): boolean {
    return this.#ids.delete(executionId)
  }
}
