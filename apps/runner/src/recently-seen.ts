const momentMs = 1000

/** Remembers for a second who was here, to tell whether somebody else was. */
export class RecentlySeen {
  /** When each was last here; who has been away longest comes first. */
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

  /** Whether anybody else came within the last second. */
  others(than: string): boolean {
    const now = performance.now()
    for (const [who, cameAt] of this.#cameAt) if (who !== than && now - cameAt < momentMs) return true
    return false
  }
}
