interface Entry {
  /** Out of the turns until a slot of the team comes free. */
  atLimit: boolean
  /** There is news since the last turn, so what that turn found is outdated. */
  news: boolean
}

/** Which teams are known to have queued runs, by pool, and whose turn it is. Pure. */
export class Backlog {
  readonly #pools = new Map<string, Map<string, Entry>>()

  /** This team has queued runs in this pool. Known teams keep their turn. */
  add(pool: string, team: string): void {
    const teams = this.#pools.get(pool) ?? new Map<string, Entry>()
    this.#pools.set(pool, teams)
    const entry = teams.get(team)
    if (entry === undefined) teams.set(team, { atLimit: false, news: true })
    else entry.news = true
  }

  /** At its turn, nothing of this team was queued in this pool any more. */
  wasEmpty(pool: string, team: string): void {
    const teams = this.#pools.get(pool)
    if (teams?.get(team)?.news === false) teams.delete(team)
  }

  /** A newer run of this team waits behind the queued ones. */
  has(pool: string, team: string): boolean {
    return this.#pools.get(pool)?.has(team) ?? false
  }

  /** At its turn, the team had no slot free. */
  reachedLimit(pool: string, team: string): void {
    const entry = this.#pools.get(pool)?.get(team)
    if (entry?.news === false) entry.atLimit = true
  }

  /** A slot of this team came free; gives the pools where it has queued runs. */
  slotFreed(team: string): string[] {
    const pools: string[] = []
    for (const [pool, teams] of this.#pools) {
      const entry = teams.get(team)
      if (entry === undefined) continue
      entry.atLimit = false
      entry.news = true
      pools.push(pool)
    }
    return pools
  }

  /** Up to `count` teams whose turn it is, the one that has waited longest first, of those that can be served. */
  turns(pool: string, count: number, canServe: (team: string) => boolean = () => true): string[] {
    const turn: string[] = []
    for (const [team, entry] of this.#pools.get(pool) ?? []) {
      if (turn.length === count) break
      if (entry.atLimit || !canServe(team)) continue
      entry.news = false
      turn.push(team)
    }
    return turn
  }

  /** The team has had its turn: it goes to the end of the line. */
  served(pool: string, team: string): void {
    const teams = this.#pools.get(pool)
    const entry = teams?.get(team)
    if (entry === undefined) return
    teams!.delete(team)
    teams!.set(team, entry)
  }

  /** Teams with queued runs in this pool. */
  teams(pool: string): string[] {
    return [...(this.#pools.get(pool)?.keys() ?? [])]
  }

  pools(): string[] {
    return [...this.#pools].filter(([, teams]) => teams.size > 0).map(([pool]) => pool)
  }
}
