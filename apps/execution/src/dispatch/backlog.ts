import type { Language } from '@automation/contract/common/v1/language'
import { allLanguages, type Languages } from './languages.ts'

interface Entry {
  /** Those in which runs may be queued. */
  languages: Set<Language>
  /** Of these, those in which newer runs wait behind them. */
  inOrder: Set<Language>
  /** Out of the turns until a slot of the team comes free. */
  atLimit: boolean
  /** What was queued since the last turn, which that turn has not found: `behind`, only runs that had others before them. */
  news: 'none' | 'behind' | 'some'
  /** A slot of the team came free since the last turn. */
  freed: boolean
}

interface TurnOptions {
  /** Absent: all. */
  languages?: Languages
  /** How many runs of a team are in flight; absent: none. */
  inFlight?(team: string): number
  canServe?(team: string): boolean
}

const none: ReadonlySet<Language> = new Set()

/** Which teams are known to have queued runs, by pool, and whose turn it is. Pure. */
export class Backlog {
  readonly #pools = new Map<string, Map<string, Entry>>()
  /** By pool, teams whose runs were queued here, of which no other replica was notified. */
  readonly #unnotified = new Map<string, Set<string>>()

  /** This team has queued runs in this pool, in these languages. Known teams keep their turn. */
  add(pool: string, team: string, languages: Languages = allLanguages): void {
    const entry = this.#entry(pool, team)
    entry.news = 'some'
    for (const language of languages) {
      entry.languages.add(language)
      entry.inOrder.add(language)
    }
  }

  /** A run of this team was queued here, for want of a slot or, with `isBehind`, only as others of its team came first. */
  queued(pool: string, team: string, language: Language, isBehind = false): void {
    const entry = this.#entry(pool, team)
    if (!isBehind) this.add(pool, team, [language])
    else if (entry.news === 'none') entry.news = 'behind'
    entry.languages.add(language)
    if (!entry.atLimit) this.#isUnnotified(pool, team)
  }

  /**
   * At its turn, nothing of this team in these languages was queued in this pool any more. What was queued meanwhile is
   * still to be claimed, but newer runs wait for it no longer where it had waited only for those: else a team whose runs
   * never cease would come by its slots over the queue for ever.
   */
  wasEmpty(pool: string, team: string, languages: Languages = allLanguages): void {
    const teams = this.#pools.get(pool)
    const entry = teams?.get(team)
    if (entry === undefined || entry.news === 'some') return
    for (const language of languages) {
      entry.inOrder.delete(language)
      if (entry.news === 'none') entry.languages.delete(language)
    }
    if (entry.languages.size > 0) return
    teams!.delete(team)
    this.#unnotified.get(pool)?.delete(team)
  }

  /** A newer run of this team in this language waits behind the queued ones. */
  has(pool: string, team: string, language: Language): boolean {
    return this.#pools.get(pool)?.get(team)?.inOrder.has(language) ?? false
  }

  /** The languages in which this team may have queued runs in this pool. */
  languages(pool: string, team: string): ReadonlySet<Language> {
    return this.#pools.get(pool)?.get(team)?.languages ?? none
  }

  /** At its turn, the team had no slot free. */
  reachedLimit(pool: string, team: string): void {
    const entry = this.#pools.get(pool)?.get(team)
    if (entry === undefined || entry.freed) return
    entry.atLimit = true
    this.#unnotified.get(pool)?.delete(team)
  }

  /** A slot of this team came free; gives the pools where it has queued runs. */
  slotFreed(team: string): string[] {
    const pools: string[] = []
    for (const [pool, teams] of this.#pools) {
      const entry = teams.get(team)
      if (entry === undefined) continue
      if (entry.atLimit) this.#isUnnotified(pool, team)
      entry.atLimit = false
      entry.freed = true
      pools.push(pool)
    }
    return pools
  }

  /**
   * Up to `count` teams whose turn it is, of those that have runs in one of these languages and can be served: the one with
   * the fewest runs in flight first, and of such the one that has waited longest.
   */
  turns(pool: string, count: number, { languages = allLanguages, inFlight, canServe }: TurnOptions = {}): string[] {
    const all = [...(this.#pools.get(pool) ?? [])].map(([team, entry]) => ({
      team,
      entry,
      runs: inFlight?.(team) ?? 0,
    }))
    const turn: string[] = []
    for (const { team, entry } of all.toSorted((a, b) => a.runs - b.runs)) {
      if (turn.length === count) break
      if (entry.atLimit || !languages.some((language) => entry.languages.has(language))) continue
      if (canServe?.(team) === false) continue
      entry.news = 'none'
      entry.freed = false
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

  /** Teams that may have queued runs in this pool of which no other replica was notified; each is given once. */
  unnotified(pool: string): string[] {
    const teams = this.#unnotified.get(pool)
    this.#unnotified.delete(pool)
    return [...(teams ?? [])]
  }

  /** Teams with queued runs in this pool. */
  teams(pool: string): string[] {
    return [...(this.#pools.get(pool)?.keys() ?? [])]
  }

  pools(): string[] {
    return [...this.#pools].filter(([, teams]) => teams.size > 0).map(([pool]) => pool)
  }

  #entry(pool: string, team: string): Entry {
    const teams = this.#pools.get(pool) ?? new Map<string, Entry>()
    this.#pools.set(pool, teams)
    const entry = teams.get(team) ?? newEntry()
    teams.set(team, entry)
    return entry
  }

  #isUnnotified(pool: string, team: string): void {
    const teams = this.#unnotified.get(pool) ?? new Set<string>()
    this.#unnotified.set(pool, teams.add(team))
  }
}

function newEntry(): Entry {
  return { languages: new Set(), inOrder: new Set(), atLimit: false, news: 'some', freed: false }
}
