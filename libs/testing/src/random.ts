/** Random choices that a seed repeats. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to, but not including, 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  happens(share: number): boolean {
    return this.next() < share
  }

  pick<T>(from: readonly T[]): T {
    const found = from[Math.floor(this.next() * from.length)]
    if (found === undefined) throw new RangeError('There is nothing to pick from')
    return found
  }

  /** One of the names, each as often as its weight says. */
  weighted<T extends string>(weights: Record<T, number>): T {
    const entries = Object.entries(weights) as [T, number][]
    let point = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) if ((point -= weight) < 0) return name
    return this.pick(entries)[0]
  }
  bytes(target: Uint8Array): void {
    for (let at = 0; at < target.length; at += 1) target[at] = Math.floor(this.next() * 256)
  }
}
