import type { Language } from '@automation/contract/common/v1/language'
import { allLanguages, type Languages, nameOf } from './languages.ts'
import {
  add,
  free,
  isLeaving,
  isNobodys,
  isOf,
  isOwnOf,
  isShared,
  runnerCreditOf,
  takeOf,
  whyOneTeam,
  type Among,
  type RunnerCredit,
  type RunnerInit,
} from './runner-credit.ts'

/** A slot that was taken. It belongs to the stream that granted it: what is granted over a later one does not rise by it. */
export interface Slot {
  readonly sessionId: string
}

/** Slots for runs of these teams in these languages: any of them may have any of the slots. */
export interface Portion {
  languages: Languages
  teams: string[]
  slots: Slot[]
}

/**
 * The bookkeeping of slots: what runners grant to this replica, and how many runs each team has there. Pure: no I/O,
 * no time. A slot is taken before the RUNNING row is written and comes back when it is not. A runner of one team that
 * is nobody's yet is the team's that takes its slot, and nobody's again when that comes back unused.
 */
export class Slots {
  readonly #runners = new Map<string, RunnerCredit>()
  /** By pool, while its runners are the same. */
  readonly #kinds = new Map<string, readonly Languages[]>()
  /** Runs by pool and team that hold a slot granted to this replica. */
  readonly #held = new Map<string, Map<string, number>>()
  readonly #mostRunners: (team: string) => number | undefined

  /** `mostRunners`: of those of one team, where the team may have others than their operator lets all have. */
  constructor(mostRunners: (team: string) => number | undefined = () => undefined) {
    this.#mostRunners = mostRunners
  }

  open(runner: RunnerInit): void {
    this.#runners.set(runner.sessionId, runnerCreditOf(runner))
    this.#kinds.delete(runner.pool)
  }

  close(sessionId: string): void {
    this.#kinds.delete(this.#runners.get(sessionId)?.pool ?? '')
    this.#runners.delete(sessionId)
  }

  /**
   * What the runners of a pool run, once for those that run the same; those that run the fewest languages come first, so
   * that the others stay free for what only they run.
   */
  kinds(pool: string): readonly Languages[] {
    let kinds = this.#kinds.get(pool)
    if (kinds === undefined) {
      kinds = [...new Set(this.#of(pool).map(({ languages }) => languages))].toSorted((a, b) => a.length - b.length)
      this.#kinds.set(pool, kinds)
    }
    return kinds
  }

  /** Every runner of the pool runs all languages. */
  runsAll(pool: string): boolean {
    return this.kinds(pool).every((languages) => languages === allLanguages)
  }

  /** `team` is whose the runner is now; undefined where it serves many, or nobody yet. */
  grant(sessionId: string, slots: number, team?: string): void {
    const runner = this.#runners.get(sessionId)
    if (runner === undefined) return
    if (runner.oneTeam && !runner.isPod && runner.owner === undefined) {
      runner.team = team
      runner.bound = team !== undefined
    }
    add(runner, slots)
  }

  /** The runner of a pod is this team's from now on. */
  bind(sessionId: string, team: string): void {
    const runner = this.#runners.get(sessionId)
    if (runner === undefined) return
    runner.team = team
    runner.bound = true
  }

  /** The runner takes its slots back: those that are free now, and each taken one that comes back unused. */
  drain(sessionId: string, returned: (slots: number) => void): void {
    const runner = this.#runners.get(sessionId)
    if (runner === undefined) return
    runner.returned = returned
    if (runner.credit > 0) returned(runner.credit)
    runner.credit = 0
  }

  /** Takes free slots back for the runner, at most so many; gives how many there were. */
  reclaim(sessionId: string, slots: number): number {
    const runner = this.#runners.get(sessionId)
    if (runner === undefined || isLeaving(runner)) return 0
    const free = Math.min(runner.credit, slots)
    runner.credit -= free
    return free
  }

  doubt(sessionId: string, doubtful: boolean): void {
    const runner = this.#runners.get(sessionId)
    if (runner !== undefined) runner.doubtful = doubtful
  }

  /** Takes a slot for a run of this team in this language; undefined when there is none for it. */
  take(pool: string, team: string, language: Language): Slot | undefined {
    const teamsOf = (languages: Languages) => (languages.includes(language) ? [team] : [])
    for (const { slots } of this.portions(pool, teamsOf, 1)) return slots[0]
    return undefined
  }

  /**
   * Takes up to `most` slots for runs of the teams that have some in these languages, in their order: of runners
   * that are theirs, then of shared ones, then runners that are nobody's, first for teams that have none. What is not used
   * must come back before the next portion is asked for.
   */
  *portions(pool: string, teamsOf: (languages: Languages) => string[], most: number): Generator<Portion> {
    const all = this.kinds(pool).map((languages) => ({ pool, languages, teams: teamsOf(languages) }))
    const kinds = all.filter(({ teams }) => teams.length > 0)
    let left = most
    for (const { teams, ...among } of kinds)
      for (const team of teams) {
        const slots = this.#take((runner) => isOf(runner, among, team), left)
        left -= slots.length
        if (slots.length > 0) yield { languages: among.languages, teams: [team], slots }
      }
    for (const { teams, ...among } of kinds) {
      const shared = this.#shared(among, teams, left)
      left -= shared.slots.length
      if (shared.slots.length > 0) yield shared
    }
    for (const { teams, ...among } of kinds)
      for (const team of this.#binding(among, teams)) {
        if (left === 0 || !this.#mayBind(among, team)) continue
        const slots = this.#take((runner) => isNobodys(runner, among), 1)
        for (const slot of slots) (slot as RunnerCredit).team = team
        left -= slots.length
        yield { languages: among.languages, teams: [team], slots }
      }
  }

  /** A slot that was taken and not used. */
  giveBack(slot: Slot): void {
    const runner = slot as RunnerCredit
    // One that is nobody's grants a single slot: with that, nothing of the team is there.
    if (runner.oneTeam && !runner.bound) runner.team = undefined
    runner.isTaken = false
    add(runner, 1)
  }

  /** The slot that a run may use now: this one or, where its runner has a new stream, one that is granted over that. */
  usable(slot: Slot, team: string): Slot | undefined {
    const runner = this.#runners.get(slot.sessionId)
    if (runner === undefined || runner === slot) return runner
    if (runner.credit === 0 || (runner.team ?? team) !== team) return undefined
    if (runner.isPod && !runner.bound && runner.isTaken) return undefined
    takeOf(runner)
    if (runner.oneTeam) runner.team = team
    return runner
  }

  /**
   * Whether a runner of these languages has a free slot that a run of this team may have, but for the last one that is
   * kept for newcomers.
   */
  hasFor(among: Among, team: string): boolean {
    const own = (runner: RunnerCredit) => isShared(runner, among) || isOf(runner, among, team)
    return this.#sum(own, free) > 0 || this.#mayBind(among, team)
  }

  /** The same for a run in this language. */
  hasForRun(pool: string, team: string, language: Language): boolean {
    return this.kinds(pool).some((languages) => languages.includes(language) && this.hasFor({ pool, languages }, team))
  }

  /** Sessions of runners that could run this team's code in one of these languages, had they a slot here. */
  couldServe(pool: string, team: string, languages: readonly Language[]): string[] {
    const could = (runner: RunnerCredit) =>
      (!runner.oneTeam || (runner.bound && runner.team === team)) &&
      !runner.doubtful &&
      languages.some((language) => runner.languages.includes(language))
    return this.#staying(pool)
      .filter(could)
      .map(({ sessionId }) => sessionId)
  }

  /** Why no runner that is here can serve this team's runs in this language; undefined where one can, now or later. */
  whyNone(pool: string, team: string, language: Language): string | undefined {
    const all = this.#staying(pool)
    if (all.length === 0) return `no runner of the pool ${pool} is there`
    const speaking = all.filter(({ languages }) => languages.includes(language))
    if (speaking.length === 0) return `no runner of the pool ${pool} runs ${nameOf(language)}`
    if (speaking.some((runner) => (runner.team ?? team) === team)) return undefined
    const which = speaking.length === all.length ? '' : ` that run ${nameOf(language)}`
    return `the runners of the pool ${pool}${which} serve one team each, and all serve other teams${whyOneTeam(all)}`
  }

  /** Runners are there, and none of them runs this language. */
  isLacking(pool: string, language: Language): boolean {
    const kinds = this.kinds(pool)
    return kinds.length > 0 && !kinds.some((languages) => languages.includes(language))
  }

  /** Runners are there, and none of them can serve this team's runs in one of these languages. */
  isUnserved(pool: string, team: string, languages: Iterable<Language>): boolean {
    if (this.#staying(pool).length === 0) return false
    return [...languages].some((language) => this.whyNone(pool, team, language) !== undefined)
  }

  /** Runners that serve this team alone, and how many it may have; undefined where nothing bounds them. */
  ownRunners(team: string): { inUse: number; allowed: number } | undefined {
    const single = [...this.#runners.values()].filter(({ oneTeam, owner }) => oneTeam && owner === undefined)
    const bound = Math.max(0, ...single.map(({ teamMaxRunners }) => teamMaxRunners ?? 0))
    const allowed = this.#mostRunners(team) ?? (bound || undefined)
    if (allowed === undefined) return undefined
    const inUse = single.filter((runner) => runner.team === team).length
    return { inUse, allowed }
  }

  /** The most runners of a pool that serve one team each which this team may have. */
  mostRunnersIn(pool: string, team: string): number {
    const bounds = this.#of(pool).map(({ teamMaxRunners }) => teamMaxRunners ?? 0)
    return this.#mostRunners(team) ?? (Math.max(0, ...bounds) || Infinity)
  }

  /** Whether a runner takes no more runs, as far as this replica knows. */
  isLeaving(sessionId: string): boolean {
    const runner = this.#runners.get(sessionId)
    return runner !== undefined && isLeaving(runner)
  }

  credit(pool: string): number {
    return this.#sum((runner) => runner.pool === pool, free)
  }

  /** Runs of the team in flight in this pool: those that hold a slot granted to this replica. */
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
   * What these teams may take of shared slots. With more than two slots, a team takes the last free one only when it
   * holds none in the pool.
   */
  #shared(among: Among, teams: string[], most: number): Portion {
    const { languages } = among
    const shared = (runner: RunnerCredit) => isShared(runner, among)
    const credit = this.#sum(shared, free)
    const newcomers = teams.filter((team) => this.holds(among.pool, team) === 0)
    const keepsLast = credit > 0 && this.#sum(shared, ({ slots }) => slots) > 2
    if (!keepsLast) return { languages, teams, slots: this.#take(shared, Math.min(credit, most)) }
    if (newcomers.length >= credit)
      return { languages, teams: newcomers, slots: this.#take(shared, Math.min(credit, most)) }
    const others = teams.filter((team) => !newcomers.includes(team))
    return { languages, teams: [...newcomers, ...others], slots: this.#take(shared, Math.min(credit - 1, most)) }
  }

  /**
   * A team that has a runner takes another one only when that is not the last: it is for a team that has none. Nor does
   * it where it has as many as a team may.
   */
  #mayBind(among: Among, team: string): boolean {
    const unbound = this.#sum((runner) => isNobodys(runner, among), free)
    if (unbound === 0) return false
    const own = this.#runnersOf(among, team)
    if (own === 0) return true
    return unbound > 1 && own < this.mostRunnersIn(among.pool, team)
  }

  /** The teams that may take a runner that is nobody's, where there is one: those that have none first. */
  #binding(among: Among, teams: string[]): string[] {
    if (this.#sum((runner) => isNobodys(runner, among), free) === 0) return []
    // Also one in doubt, which is theirs all the same.
    const hasOne = (team: string) => this.#some((runner) => isOwnOf(runner, among, team))
    return [...teams.filter((team) => !hasOne(team)), ...teams.filter(hasOne)]
  }

  /** How many runners of one team are this one's. */
  #runnersOf(among: Among, team: string): number {
    return this.#sum(
      (runner) => isOf(runner, among, team),
      () => 1,
    )
  }

  /** Takes up to `count` slots, from the runners that grant the most first. */
  #take(of: (runner: RunnerCredit) => boolean, count: number): Slot[] {
    const taken: Slot[] = []
    while (taken.length < count) {
      let richest: RunnerCredit | undefined
      for (const runner of this.#runners.values())
        if (free(runner) > (richest === undefined ? 0 : free(richest)) && of(runner)) richest = runner
      if (richest === undefined) break
      takeOf(richest)
      taken.push(richest)
    }
    return taken
  }

  #of(pool: string): RunnerCredit[] {
    return [...this.#runners.values()].filter((runner) => runner.pool === pool)
  }

  /** Those that do not take their slots back. */
  #staying(pool: string): RunnerCredit[] {
    return this.#of(pool).filter((runner) => !isLeaving(runner))
  }

  #some(is: (runner: RunnerCredit) => boolean): boolean {
    for (const runner of this.#runners.values()) if (is(runner)) return true
    return false
  }

  #sum(of: (runner: RunnerCredit) => boolean, value: (runner: RunnerCredit) => number): number {
    let sum = 0
    for (const runner of this.#runners.values()) if (of(runner)) sum += value(runner)
    return sum
  }
}
