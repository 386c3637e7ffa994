import type { Result } from '@automation/contract/runner/v1/runner'

interface Kept<Link> {
  result: Result
  link: Link
  /** Monotonic time of the next try, and how long to wait after that. */
  nextAt: number
  pauseMs: number
}

const firstPauseMs = 2000
const longestPauseMs = 10_000

/** Results that no replica has yet said to have stored: sent again, to any replica, until one has. */
export class KeptResults<Link> {
  readonly #kept = new Map<string, Kept<Link>>()
  readonly #send: (result: Result, preferred: Link) => boolean

  constructor(send: (result: Result, preferred: Link) => boolean) {
    this.#send = send
  }

  add(result: Result, link: Link): void {
    const nextAt = this.#send(result, link) ? performance.now() + firstPauseMs : 0
    this.#kept.set(result.executionId, { result, link, nextAt, pauseMs: firstPauseMs })
  }

  /** Stored, or no more asked for; false when there is no such result. */
  drop(executionId: string): boolean {
    return this.#kept.delete(executionId)
  }

  clear(): void {
    this.#kept.clear()
  }

  /** Sends those whose time has come. */
  sendDue(now: number): void {
    for (const kept of this.#kept.values()) {
      if (kept.nextAt > now || !this.#send(kept.result, kept.link)) continue
      kept.pauseMs = Math.min(longestPauseMs, kept.pauseMs * 2)
      kept.nextAt = now + kept.pauseMs
    }
  }

  /** The stream that these went over has broken: they are due at once. */
  hasten(link: Link): void {
    for (const kept of this.#kept.values()) if (kept.link === link) kept.nextAt = 0
  }

  has(executionId: string): boolean {
    return this.#kept.has(executionId)
  }

  get ids(): string[] {
    return [...this.#kept.keys()]
  }

  get size(): number {
    return this.#kept.size
  }
}
