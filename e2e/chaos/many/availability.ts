import { waitUntil } from '../../system/wait-until.ts'

/** When something that callers wait for came, such as an accepted call, in milliseconds of the monotonic clock. */
export class Availability {
  readonly #name: string
  readonly #cameAt: number[] = []

  constructor(name: string) {
    this.#name = name
  }

  came(): void {
    this.#cameAt.push(performance.now())
  }

  /** Resolves when the next one has come. Throws where none does within `timeoutMs`. */
  async next(timeoutMs: number): Promise<void> {
    const before = this.#cameAt.length
    await waitUntil(this.#name, () => this.#cameAt.length > before, { timeoutMs })
  }

  longestGapMs(fromMs: number, toMs: number): number {
    return longestGap(this.#cameAt, fromMs, toMs)
  }
}

/** The longest part of a span in which none of these ascending instants lies, in milliseconds. */
export function longestGap(instants: readonly number[], fromMs: number, toMs: number): number {
  const inside = instants.filter((at) => at > fromMs && at < toMs)
  const edges = [fromMs, ...inside, toMs]
  return Math.max(...edges.slice(1).map((at, index) => at - edges[index]!))
}
