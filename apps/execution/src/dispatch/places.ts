/** A place that was taken. It belongs to the stream that lent it: what is lent over a later one does not rise by it. */
export interface Place {
  readonly sessionId: string
}

/** What a runner is, as it says at the beginning of its stream. */
export interface LenderInit {
  readonly sessionId: string
  pool: string
  /** All places of the runner, lent to whomever. */
  places: number
  /** It serves one team: the one whose run it gets first. */
  oneTeam: boolean
  /** With `oneTeam`: a team that has so many runners in the pool takes no further one; 0: no bound. */
  teamMaxRunners?: number
}

/** A runner's session as this replica sees it: how many places it lends here now. */
interface Lender extends LenderInit {
  credit: number
  /** Of a runner of one team: whose runs its places are for. Undefined while it is nobody's. */
  team?: string
  /** The runner has said whose it is. */
  bound: boolean
  /** Its lease runs out: its places are not used until it is renewed. */
  doubtful: boolean
  /** Set once the runner takes its places back: told of each that is not used. */
  returned?: (places: number) => void
}

/** Places for runs of these teams: any of them may have any of the places. */
export interface Portion {
  teams: string[]
  places: Place[]
}

/**
 * The bookkeeping of places: what runners lend to this replica, and how many runs each team has there. Pure: no I/O,
 * no time. A place is taken before the RUNNING row is written and comes back when it is not. A runner of one team that
 * is nobody's yet is the team's that takes its place, and nobody's again when that comes back unused.
 */
export class Places {
  readonly #lenders = new Map<string, Lender>()
  /** Runs by pool and team that hold a place lent to this replica. */
  readonly #held = new Map<string, Map<string, number>>()

  open({ sessionId, pool, places, oneTeam, teamMaxRunners }: LenderInit): void {
    const state = { credit: 0, bound: false, doubtful: false }
    this.#lenders.set(sessionId, { sessionId, pool, places, oneTeam, teamMaxRunners, ...state })
  }

  close(sessionId: string): void {
    this.#lenders.delete(sessionId)
  }

  /** `team` is whose the runner is now; undefined where it serves many, or nobody yet. */
  lend(sessionId: string, places: number, team?: string): void {
    const lender = this.#lenders.get(sessionId)
    if (lender === undefined) return
    if (lender.oneTeam) {
      lender.team = team
      lender.bound = team !== undefined
    }
    add(lender, places)
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
    for (const { places } of this.portions(pool, [team], 1)) return places[0]
    return undefined
  }

  /**
   * Takes up to `most` places for runs of these teams, which come in turn: of runners that are theirs, then of shared
   * ones, then runners that are nobody's. What is not used must come back before the next portion is asked for.
   */
  *portions(pool: string, teams: string[], most: number): Generator<Portion> {
    if (teams.length === 0) return
    let left = most
    for (const team of teams) {
      const places = this.#take((lender) => isOf(lender, pool, team), left)
      left -= places.length
      if (places.length > 0) yield { teams: [team], places }
    }
    const shared = this.#shared(pool, teams, left)
    left -= shared.places.length
    if (shared.places.length > 0) yield shared
    for (const team of teams) {
      if (left === 0 || !this.#mayBind(pool, team)) continue
      const places = this.#take((lender) => isNobodys(lender, pool), 1)
      for (const place of places) (place as Lender).team = team
      left -= places.length
      yield { teams: [team], places }
    }
  }

  /** A place that was taken and not used. */
  giveBack(place: Place): void {
    const lender = place as Lender
    // One that is nobody's lends a single place: with that, nothing of the team is there.
    if (lender.oneTeam && !lender.bound) lender.team = undefined
    add(lender, 1)
  }

  /** The place that a run may use now: this one or, where its runner has a new stream, one that is lent over that. */
  usable(place: Place, team: string): Place | undefined {
    const lender = this.#lenders.get(place.sessionId)
    if (lender === undefined || lender === place) return lender
    if (lender.credit === 0 || (lender.team ?? team) !== team) return undefined
    lender.credit -= 1
    if (lender.oneTeam) lender.team = team
    return lender
  }

  /** Whether a free place is there that a run of this team may have, but for the last one that is kept for newcomers. */
  hasFor(pool: string, team: string): boolean {
    const own = (lender: Lender) => isShared(lender, pool) || isOf(lender, pool, team)
    return this.#sum(own, free) > 0 || this.#mayBind(pool, team)
  }

  /** Why no runner that is here can serve this team, in words; undefined where one can, now or later. */
  whyNone(pool: string, team: string): string | undefined {
    if (!this.#some((lender) => lender.pool === pool && !isLeaving(lender)))
      return `no runner of the pool ${pool} is there`
    if (!this.isForOthersOnly(pool, team)) return undefined
    return `the runners of the pool ${pool} serve one team each, and all serve other teams`
  }

  /** Runners are there, and all serve one other team each. */
  isForOthersOnly(pool: string, team: string): boolean {
    const all = [...this.#lenders.values()].filter((lender) => lender.pool === pool && !isLeaving(lender))
    return all.length > 0 && all.every((lender) => (lender.team ?? team) !== team)
  }

  credit(pool: string): number {
    return this.#sum((lender) => lender.pool === pool, free)
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

  /**
   * What these teams may take of shared places. With more than two places, a team takes the last free one only when it
   * holds none in the pool.
   */
  #shared(pool: string, teams: string[], most: number): Portion {
    const shared = (lender: Lender) => isShared(lender, pool)
    const credit = this.#sum(shared, free)
    const newcomers = teams.filter((team) => this.holds(pool, team) === 0)
    const keepsLast = credit > 0 && this.#sum(shared, ({ places }) => places) > 2
    if (!keepsLast) return { teams, places: this.#take(shared, Math.min(credit, most)) }
    if (newcomers.length >= credit) return { teams: newcomers, places: this.#take(shared, Math.min(credit, most)) }
    const others = teams.filter((team) => !newcomers.includes(team))
    return { teams: [...newcomers, ...others], places: this.#take(shared, Math.min(credit - 1, most)) }
  }

  /**
   * A team that has a runner takes another one only when that is not the last: it is for a team that has none. Nor does
   * it where it has as many as a team may.
   */
  #mayBind(pool: string, team: string): boolean {
    const unbound = this.#sum((lender) => isNobodys(lender, pool), free)
    if (unbound === 0) return false
    const own = [...this.#lenders.values()].filter((each) => isOf(each, pool, team)).length
    if (own === 0) return true
    const bounds = [...this.#lenders.values()].map((each) => (each.pool === pool && each.teamMaxRunners) || 0)
    return unbound > 1 && own < (Math.max(...bounds) || Infinity)
  }

  /** Takes up to `count` places, from the runners that lend the most first. */
  #take(of: (lender: Lender) => boolean, count: number): Place[] {
    const taken: Place[] = []
    while (taken.length < count) {
      let richest: Lender | undefined
      for (const lender of this.#lenders.values())
        if (free(lender) > (richest === undefined ? 0 : free(richest)) && of(lender)) richest = lender
      if (richest === undefined) break
      richest.credit -= 1
      taken.push(richest)
    }
    return taken
  }

  #some(of: (lender: Lender) => boolean): boolean {
    return this.#lenders.values().some(of)
  }

  #sum(of: (lender: Lender) => boolean, value: (lender: Lender) => number): number {
    let sum = 0
    for (const lender of this.#lenders.values()) if (of(lender)) sum += value(lender)
    return sum
  }
}

function isShared(lender: Lender, pool: string): boolean {
  return lender.pool === pool && !lender.oneTeam
}

/** A runner of one team that is this one's, and not in doubt. */
function isOf(lender: Lender, pool: string, team: string): boolean {
  return lender.pool === pool && lender.oneTeam && lender.team === team && !lender.doubtful && !isLeaving(lender)
}

/** It takes its places back. */
function isLeaving({ returned }: Lender): boolean {
  return returned !== undefined
}

function isNobodys(lender: Lender, pool: string): boolean {
  return lender.pool === pool && lender.oneTeam && lender.team === undefined
}

/** Places of this runner that may be used now. */
function free({ credit, doubtful }: Lender): number {
  return doubtful ? 0 : credit
}

function add(lender: Lender, places: number): void {
  if (lender.returned === undefined) lender.credit += places
  else lender.returned(places)
}
