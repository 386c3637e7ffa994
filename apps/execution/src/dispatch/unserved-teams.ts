import type { Logger } from '@automation/service'
import type { Backlog } from './backlog.ts'
import type { Slots } from './slots.ts'
import type { RunnerSupply } from './runner-supply.ts'

const tellEveryMs = 60_000

/** Tells the operator of teams that wait though runners are there: those that run their languages serve other teams. */
export class UnservedTeams {
  readonly #backlog: Backlog
  readonly #slots: Slots
  readonly #supply: RunnerSupply
  readonly #logger: Logger
  #nextMs = 0

  constructor(backlog: Backlog, slots: Slots, supply: RunnerSupply, logger: Logger) {
    this.#backlog = backlog
    this.#slots = slots
    this.#supply = supply
    this.#logger = logger
  }

  /** A run waits in this pool. Logged once in a while. */
  look(pool: string): void {
    if (performance.now() < this.#nextMs) return
    const teams = this.#in(pool)
    if (teams.length === 0) return
    this.#nextMs = performance.now() + tellEveryMs
    this.#logger.warn({ pool, teams: teams.length }, `teams wait for a runner that serves them: ${this.#remedy(pool)}`)
  }

  /** For readiness; undefined where there are none. */
  get words(): string | undefined {
    const pools = this.#backlog.pools().map((pool) => ({ pool, count: this.#in(pool).length }))
    const unserved = pools.filter(({ count }) => count > 0)
    if (unserved.length === 0) return undefined
    const count = unserved.reduce((sum, each) => sum + each.count, 0)
    const remedies = new Set(unserved.map(({ pool }) => this.#remedy(pool)))
    return `${count} teams wait for a runner that serves them: ${[...remedies].join('; ')}`
  }

  #remedy(pool: string): string {
    const supply = this.#supply.of(pool)
    if (supply === undefined) return `${this.#why(pool)}: more runners are needed, or such as serve many teams`
    if (supply.trouble !== '') return `${supply.trouble}: look at the sandbox service`
    return `all ${supply.mostRunners} runner pods serve other teams, RUNNER_PODS allows no more`
  }

  /** Of the first of them. */
  #why(pool: string): string {
    const [team = ''] = this.#in(pool)
    const whys = [...this.#backlog.languages(pool, team)].map((each) => this.#slots.whyNone(pool, team, each))
    return whys.find((why) => why !== undefined) ?? 'no runner serves them'
  }

  /** Teams that no runner serves and, where runners are made on demand, for which none is about to be made. */
  #in(pool: string): string[] {
    const supply = this.#supply.of(pool)
    if (supply !== undefined && supply.trouble === '' && supply.runners < supply.mostRunners) return []
    return this.#backlog
      .teams(pool)
      .filter((team) => this.#slots.isUnserved(pool, team, this.#backlog.languages(pool, team)))
  }
}
