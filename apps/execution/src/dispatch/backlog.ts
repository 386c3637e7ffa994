import type { Language } from '@automation/contract/common/v1/language'
import { allLanguages, type Languages } from './languages.ts'

interface Entry {
  /** Those in which runs may be queued. */
  languages: Set<Language>
  /** Out of the turns until a slot of the team comes free. */
  atLimit: boolean
  /** There is news since the last turn, so what that turn found is outdated. */
  news: boolean
}

const none: ReadonlySet<Language> = new Set()

/** Which teams are known to have queued runs, by pool, and whose turn it is. Pure. */
export class Backlog {
  readonly #pools = new Map<string, Map<string, Entry>>()

  /** This team has queued runs in this pool, in these languages. Known teams keep their turn. */
  add(pool: string, team: string, languages: Languages = allLanguages): void {
    const teams = this.#pools.get(pool) ?? new Map<string, Entry>()
    this.#pools.set(pool, teams)
    const entry = teams.get(team)
    if (entry === undefined) teams.set(team, { languages: new Set(languages), atLimit: false, news: true })
    else {
      entry.news = true
      for (const language of languages) entry.languages.add(language)
    }
  }

  /** At its turn, nothing of this team in these languages was queued in this pool any more. */
  wasEmpty(pool: string, team: string, languages: Languages = allLanguages): void {
    const teams = this.#pools.get(pool)
    const entry = teams?.get(team)
    if (entry?.news !== false) return
    for (const language of languages) entry.languages.delete(language)
    if (entry.languages.size === 0) teams!.delete(team)
  }

  /** A newer run of this team in this language waits behind the queued ones. */
  has(pool: string, team: string, language: Language): boolean {
    return this.languages(pool, team).has(language)
  }

  /** The languages in which this team may have queued runs in this pool. */
  languages(pool: string, team: string): ReadonlySet<Language> {
    return this.#pools.get(pool)?.get(team)?.languages ?? none
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

  /**
   * Up to `count` teams whose turn it is, the one that has waited longest first, of those that have runs in one of these
   * languages and can be served.
   */
  turns(
    pool: string,
    count: number,
    languages: Languages = allLanguages,
    canServe: (team: string) => boolean = () => true,
  ): string[] {
    const turn: string[] = []
    for (const [team, entry] of this.#pools.get(pool) ?? []) {
      if (turn.length === count) break
      if (entry.atLimit || !languages.some((language) => entry.languages.has(language)) || !canServe(team)) continue
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
