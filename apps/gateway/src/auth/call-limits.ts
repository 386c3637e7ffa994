import { Failure } from '@automation/errors'
import { LRUCache } from 'lru-cache'

/** What a team may call in a second; undefined where nobody has bounded it. */
export type CallsPerSecond = (team: string) => number | undefined

const mostBuckets = 10_000
/** For how many seconds what was called beyond the limit may keep a team waiting. */
const longestDebtS = 2

interface Bucket {
  /** Calls that may be made now; below 0, what was made beyond the limit. */
  tokens: number
  atMs: number
}

/**
 * Calls a second of teams that have a limit. Each gateway lets through its share: the limit by the number of gateways. A
 * team may call as often in a burst as in a second.
 */
export class CallLimits {
  readonly #limitOf: CallsPerSecond
  readonly #gateways: () => number
  /** Bounded, as strangers call for teams that are not there, too. One that is dropped is full when it comes again. */
  readonly #buckets = new LRUCache<string, Bucket>({ max: mostBuckets })

  constructor(limitOf: CallsPerSecond, gateways: () => number) {
    this.#limitOf = limitOf
    this.#gateways = gateways
  }

  /** Counts a call with a token of the team; `nowMs` is monotonic. Failure too_many_calls. */
  count(team: string, nowMs: number): void {
    this.#count(team, team, nowMs)
  }

  /** Counts a call that a request, which was let through, makes for its team: the team's next requests wait for it instead. */
  countInner(team: string, nowMs: number): void {
    const bucket = this.#bucketOf(team, team, nowMs)
    if (bucket === undefined) return
    const { tokens, share } = bucket
    this.#buckets.set(team, { tokens: Math.max(tokens - 1, -longestDebtS * share), atMs: nowMs })
  }

  /**
   * Counts a call that anybody may make. Those have as many of their own: strangers take none from the team. `address`: each
   * address has as many, so that strangers take none from each other either.
   */
  countOpen(team: string, nowMs: number, address = ''): void {
    this.#count(team, `${team} open ${address}`, nowMs)
  }

  #count(team: string, key: string, nowMs: number): void {
    const bucket = this.#bucketOf(team, key, nowMs)
    if (bucket === undefined) return
    const { limit, share, tokens } = bucket
    this.#buckets.set(key, { tokens: tokens < 1 ? tokens : tokens - 1, atMs: nowMs })
    if (tokens >= 1) return
    const retryAfterS = Math.max(1, Math.ceil((1 - tokens) / share))
    const soon = retryAfterS === 1 ? 'a second' : `${retryAfterS} seconds`
    const text = `The team has more than ${limit} calls a second, which is the most it may: try again in ${soon}`
    throw new Failure('resource_exhausted', 'too_many_calls', text, { retryAfterS })
  }

  /** As it is now; undefined where there is no limit. */
  #bucketOf(team: string, key: string, nowMs: number) {
    const limit = this.#limitOf(team)
    if (limit === undefined) {
      this.#buckets.delete(key)
      return undefined
    }
    const share = limit / this.#gateways()
    const most = Math.max(share, 1)
    const { tokens, atMs } = this.#buckets.get(key) ?? { tokens: most, atMs: nowMs }
    return { limit, share, most, tokens: Math.min(tokens + ((nowMs - atMs) / 1000) * share, most) }
  }
}
