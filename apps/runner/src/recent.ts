const momentMs = 1000

/** Who came a moment ago. */
export class Recent {
  /** When each was last here, the longest ago first. */
  readonly #cameAt = new Map<string, number>()

  came(who: string): void {
    const now = performance.now()
    this.#cameAt.delete(who)
    this.#cameAt.set(who, now)
    for (const [first, cameAt] of this.#cameAt) {
      if (now - cameAt < momentMs) break
      this.#cameAt.delete(first)
    }
  }

  /** Whether anybody else did. */
  others(than: string): boolean {
    const now = performance.now()
    for (const [who, cameAt] of this.#cameAt) if (who !== than && now - cameAt < momentMs) return true
    return false
  }
}
