import type { Failure } from '@automation/errors'
import { clientKey } from '../http/caller.ts'

const WINDOW_MS = 60_000
/** Of addresses and things that are counted at a time; beyond these the one that is counted for the longest is left out. */
const MOST_COUNTED = 20_000

interface Window {
  count: number
  sinceMs: number
}

/**
 * How often a minute one address may do something to one thing; addresses of an IPv6 /64 count together. Each gateway lets
 * through its share: the limit by the number of gateways.
 */
export class MinuteLimits {
  readonly #aMinute: number
  readonly #gateways: () => number
  readonly #refusal: (retryAfterS: number) => Failure
  /** In the order in which they began. */
  readonly #windows = new Map<string, Window>()

  constructor(aMinute: number, gateways: () => number, refusal: (retryAfterS: number) => Failure) {
    this.#aMinute = aMinute
    this.#gateways = gateways
    this.#refusal = refusal
  }

  /** Counts what an address does; `nowMs` is monotonic. Fails as `refusal` says. */
  count(thing: string, address: string, nowMs: number): void {
    const window = this.#windowOf(`${thing} ${clientKey(address)}`, nowMs)
    window.count += 1
    if (window.count > Math.ceil(this.#aMinute / this.#gateways()))
      throw this.#refusal(Math.max(1, Math.ceil((window.sinceMs + WINDOW_MS - nowMs) / 1000)))
  }

  #windowOf(key: string, nowMs: number): Window {
    const known = this.#windows.get(key)
    if (known !== undefined && nowMs - known.sinceMs < WINDOW_MS) return known
    this.#windows.delete(key)
    for (const [oldest, { sinceMs }] of this.#windows) {
      if (this.#windows.size < MOST_COUNTED && nowMs - sinceMs < WINDOW_MS) break
      this.#windows.delete(oldest)
    }
    const window = { count: 0, sinceMs: nowMs }
    this.#windows.set(key, window)
    return window
  }
}
