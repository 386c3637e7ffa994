import { LRUCache } from 'lru-cache'

export interface TeamSharesOptions<V> {
  /** What all teams may hold together, and what one may. */
  maxBytes: number
  teamMaxBytes: number
  /** It had to go for something newer. */
  evicted?(key: string, value: V): void
}

/**
 * Things of teams by their weight. What a team has not used for longest goes when it holds more than its share; beyond
 * what there is for all, the team that holds most gives something up, so none can drive out the others.
 */
export class TeamShares<V extends object> {
  readonly #teams = new Map<string, LRUCache<string, V>>()
  readonly #options: TeamSharesOptions<V>
  #bytes = 0

  constructor(options: TeamSharesOptions<V>) {
    this.#options = options
  }

  get bytes(): number {
    return this.#bytes
  }

  get(team: string, key: string): V | undefined {
    return this.#teams.get(team)?.get(key)
  }

  /** Keeps it until others have to be kept; what is heavier than a share is not kept. */
  set(team: string, key: string, value: V, bytes: number): void {
    const held = this.#teams.get(team) ?? this.#open(team)
    this.#change(team, held, () => held.set(key, value, { size: Math.max(1, bytes) }))
    while (this.#bytes > this.#options.maxBytes) {
      const [most, ofMost] = this.#mostBut(team)
      if (ofMost === undefined) return
      this.#change(most, ofMost, () => ofMost.pop())
    }
  }

  delete(team: string, key: string): void {
    const held = this.#teams.get(team)
    if (held !== undefined) this.#change(team, held, () => held.delete(key))
  }

  #open(team: string): LRUCache<string, V> {
    const { teamMaxBytes, evicted } = this.#options
    const held = new LRUCache<string, V>({
      maxSize: teamMaxBytes,
      dispose: (value, key, reason) => reason === 'evict' && evicted?.(key, value),
    })
    this.#teams.set(team, held)
    return held
  }

  #change(team: string, held: LRUCache<string, V>, change: () => unknown): void {
    const before = held.calculatedSize
    change()
    this.#bytes += held.calculatedSize - before
    if (held.size === 0) this.#teams.delete(team)
  }

  /** The team that holds most; this one keeps at least what it has got just now. */
  #mostBut(team: string): [team: string, held: LRUCache<string, V> | undefined] {
    let most: [string, LRUCache<string, V> | undefined] = ['', undefined]
    for (const each of this.#teams) {
      const [name, held] = each
      if (name === team && held.size === 1) continue
      if (held.calculatedSize > (most[1]?.calculatedSize ?? 0)) most = each
    }
    return most
  }
}
