import { waitUntil } from '../../system/wait-until.ts'

/** When calls were accepted, in milliseconds of the monotonic clock. */
export class Availability {
  readonly #acceptedAt: number[] = []

  accepted(): void {
    this.#acceptedAt.push(performance.now())
  }

  /** Resolves at the first accepted call from now on. Throws where none comes within `timeoutMs`. */
  async next(timeoutMs: number): Promise<void> {
    const before = this.#acceptedAt.length
    await waitUntil('an accepted call', () => this.#acceptedAt.length > before, { timeoutMs })
  }

  longestGapMs(fromMs: number, toMs: number): number {
    return longestGap(this.#acceptedAt, fromMs, toMs)
  }
}

/** The longest part of a span in which none of these ascending instants lies, in milliseconds. */
export function longestGap(instants: readonly number[], fromMs: number, toMs: number): number {
  const inside = instants.filter((at) => at > fromMs && at < toMs)
  const edges = [fromMs, ...inside, toMs]
  return Math.max(...edges.slice(1).map((at, index) => at - edges[index]!))
}
