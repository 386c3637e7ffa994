/** A place that was taken. It belongs to the stream that lent it: what is lent over a later one does not rise by it. */
export interface Place {
  readonly sessionId: string
}

/** A runner's session as this replica sees it: how many places it lends here now. */
interface Lender extends Place {
  pool: string
  /** All places of the runner, lent to whomever. */
  places: number
  credit: number
  /** Its lease runs out: its places are not used until it is renewed. */
  doubtful: boolean
  /** Set once the runner takes its places back: told of each that is not used. */
  returned?: (places: number) => void
}

/**
 * The bookkeeping of places: what runners lend to this replica, and how many runs each team has there. Pure: no I/O,
 * no time. A place is taken before the RUNNING row is written and comes back when it is not.
 */
export class Places {
  readonly #lenders = new Map<string, Lender>()
  /** Runs by pool and team that hold a place lent to this replica. */
  readonly #held = new Map<string, Map<string, number>>()

  open(sessionId: string, pool: string, places: number): void {
    this.#lenders.set(sessionId, { sessionId, pool, places, credit: 0, doubtful: false })
  }

  close(sessionId: string): void {
    this.#lenders.delete(sessionId)
  }

  lend(sessionId: string, places: number): void {
    const lender = this.#lenders.get(sessionId)
    if (lender !== undefined) add(lender, places)
  }

  /** The runner takes its places back: those that are free now, and each taken one that comes back unused. */
  drain(sessionId: string, returned: (places: number) => void): void {
    const lender = this.#lenders.get(sessionId)
    if (lender === undefined) return
    lender.returned = returned
    if (lender.credit > 0) returned(lender.credit)
    lender.credit = 0
  }

  doubt(sessionId: string, doubtful: boolean): void {
    const lender = this.#lenders.get(sessionId)
    if (lender !== undefined) lender.doubtful = doubtful
  }

  /** Takes a place for a run of this team; undefined when there is none for it. */
  take(pool: string, team: string): Place | undefined {
    if (this.allowance(pool, [team]) < 1) return undefined
    return this.takeUpTo(pool, 1)[0]
  }

  /** Takes up to `count` places, from the runners that lend the most first. */
  takeUpTo(pool: string, count: number): Place[] {
    const taken: Place[] = []
    while (taken.length < count) {
      const lender = this.#richest(pool)
      if (lender === undefined) break
      lender.credit -= 1
      taken.push(lender)
    }
    return taken
  }

  /** A place that was taken and not used. */
  giveBack(place: Place): void {
    add(place as Lender, 1)
  }

  /** The place that a run may use now: this one or, where its runner has a new stream, one that is lent over that. */
  usable(place: Place): Place | undefined {
    const lender = this.#lenders.get(place.sessionId)
    if (lender === undefined || lender === place) return lender
    if (lender.credit === 0) return undefined
    lender.credit -= 1
    return lender
  }

  /**
   * How many places may be filled now with runs of these teams, which come in turn. In a pool with more than two
   * places a team takes the last free one only when it holds none there.
   */
  allowance(pool: string, teams: string[]): number {
    const credit = this.credit(pool)
    if (credit === 0 || this.places(pool) <= 2) return credit
    const newcomers = teams.filter((team) => this.holds(pool, team) === 0).length
    return newcomers >= credit ? credit : credit - 1
  }

  credit(pool: string): number {
    return this.#sum(pool, ({ credit, doubtful }) => (doubtful ? 0 : credit))
  }

  places(pool: string): number {
    return this.#sum(pool, ({ places }) => places)
  }

  holds(pool: string, team: string): number {
    return this.#held.get(pool)?.get(team) ?? 0
  }

  hold(pool: string, team: string): void {
    const teams = this.#held.get(pool) ?? new Map<string, number>()
    this.#held.set(pool, teams)
    teams.set(team, (teams.get(team) ?? 0) + 1)
  }

  leave(pool: string, team: string): void {
    const teams = this.#held.get(pool)
    const left = (teams?.get(team) ?? 0) - 1
    if (left > 0) teams!.set(team, left)
    else teams?.delete(team)
  }

  #richest(pool: string): Lender | undefined {
    let found: Lender | undefined
    for (const lender of this.#lenders.values())
      if (lender.pool === pool && !lender.doubtful && lender.credit > (found?.credit ?? 0)) found = lender
    return found
  }

  #sum(pool: string, of: (lender: Lender) => number): number {
    let sum = 0
    for (const lender of this.#lenders.values()) if (lender.pool === pool) sum += of(lender)
    return sum
  }
}

function add(lender: Lender, places: number): void {
  if (lender.returned === undefined) lender.credit += places
  else lender.returned(places)
}
