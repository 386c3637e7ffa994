const momentMs = 1000

/** Remembers for a while, a second if nothing else is said, who was here. */
export class RecentlySeen {
  readonly #forMs: number
  /** When each was last here; who has been away longest comes first. */
  readonly #cameAt = new Map<string, number>()

  constructor(forMs = momentMs) {
    this.#forMs = forMs
  }

  /** Whether it is remembered to have been here before. */
  came(who: string): boolean {
    const now = performance.now()
    for (const [first, cameAt] of this.#cameAt) {
      if (now - cameAt < this.#forMs) break
      this.#cameAt.delete(first)
    }
    const wasHere = this.#cameAt.delete(who)
    this.#cameAt.set(who, now)
    return wasHere
  }

  /** Whether anybody else is remembered. */
  others(than: string): boolean {
    const now = performance.now()
    for (const [who, cameAt] of this.#cameAt) if (who !== than && now - cameAt < this.#forMs) return true
    return false
  }
}
