import { Failure } from '@automation/errors'

const most = { target: 4, team: 16 }

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
    const places = [{ key: `target ${id}`, most: most.target }]
    if (team !== undefined) places.push({ key: `team ${team}`, most: most.team })
    if (places.some((place) => this.#count(place.key) >= place.most))
      throw new Failure('resource_exhausted', 'too_many_attempts', 'Too many attempts at the same time, try again', {
        retryAfterS: 1,
      })
    for (const { key } of places) this.#add(key, 1)
    return () => {
      for (const { key } of places) this.#add(key, -1)
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
