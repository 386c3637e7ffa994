import { Failure } from '@automation/errors'
import { LRUCache } from 'lru-cache'

const windowMs = 60_000
const most = 10
const maxKept = 50_000

/** Counts failures by address and target: ten within a minute, and the next attempts are refused. */
export class Attempts {
  readonly #failures = new LRUCache<string, number[]>({ max: maxKept })
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Counts an attempt as failed until `undo` is called. Failure resource_exhausted too_many_attempts with retryAfterS. */
  begin(address: string, target: string): { undo(): void } {
    const key = `${address} ${target}`
    const now = this.#now()
    const recent = (this.#failures.get(key) ?? []).filter((time) => time > now - windowMs)
    if (recent.length >= most) {
      const retryAfterS = Math.max(1, Math.ceil((recent[0]! + windowMs - now) / 1000))
      throw new Failure('resource_exhausted', 'too_many_attempts', 'Too many failed attempts, try again later', {
        retryAfterS,
      })
    }
    recent.push(now)
    this.#failures.set(key, recent)
    return { undo: () => this.#undo(key, now) }
  }

  #undo(key: string, time: number): void {
    const times = this.#failures.get(key)
    const index = times?.indexOf(time) ?? -1
    if (index >= 0) times!.splice(index, 1)
    if (times?.length === 0) this.#failures.delete(key)
  }
}

const mostAtWork = { target: 4, team: 16 }

/** What is guarded, and whose it is where that is known. */
export interface CheckTarget {
  id: string
  team?: string
}

/** Counts the checks that wait or run: one target or team does not fill the queue that all share. */
export class ChecksAtWork {
  readonly #counts = new Map<string, number>()

  /** Call what it gives when the check is over. Failure resource_exhausted too_many_attempts with retryAfterS. */
  begin({ id, team }: CheckTarget): () => void {
    const limits = [{ key: `target ${id}`, most: mostAtWork.target }]
    if (team !== undefined) limits.push({ key: `team ${team}`, most: mostAtWork.team })
    if (limits.some((limit) => this.#count(limit.key) >= limit.most))
      throw new Failure('resource_exhausted', 'too_many_attempts', 'Too many attempts at the same time, try again', {
        retryAfterS: 1,
      })
    for (const { key } of limits) this.#add(key, 1)
    return () => {
      for (const { key } of limits) this.#add(key, -1)
    }
  }

  #count(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  #add(key: string, by: number): void {
    const count = this.#count(key) + by
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
  }
}
