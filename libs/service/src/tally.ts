/** Sums by who has them, such as bytes or streams that are open; who has none takes no room. */
export class Tally {
  readonly #sums = new Map<string, number>()

  of(key: string): number {
    return this.#sums.get(key) ?? 0
  }

  add(key: string, by: number): void {
    const sum = this.of(key) + by
    if (sum === 0) this.#sums.delete(key)
    else this.#sums.set(key, sum)
  }
}
