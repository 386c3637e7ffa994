import type { Logger } from '@automation/service'
import type { Backlog } from './backlog.ts'
import type { Slots } from './slots.ts'
import type { RunnerCapacity } from './runner-capacity.ts'

const tellEveryMs = 60_000

/** Tells the operator of teams that wait though runners are there: those that run their languages serve other teams. */
export class UnservedTeams {
  readonly #backlog: Backlog
  readonly #slots: Slots
  readonly #capacity: RunnerCapacity
  readonly #logger: Logger
  #nextMs = 0

  constructor(backlog: Backlog, slots: Slots, capacity: RunnerCapacity, logger: Logger) {
    this.#backlog = backlog
    this.#slots = slots
    this.#capacity = capacity
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
    const capacity = this.#capacity.of(pool)
    if (capacity === undefined) return `${this.#why(pool)}: more runners are needed, or such as serve many teams`
    if (capacity.trouble !== '') return `${capacity.trouble}: look at the sandbox service`
    return `all ${capacity.mostRunners} runner pods serve other teams, RUNNER_PODS allows no more`
  }

  /** Of the first of them. */
  #why(pool: string): string {
    const [team = ''] = this.#in(pool)
    const whys = [...this.#backlog.languages(pool, team)].map((each) => this.#slots.whyNone(pool, team, each))
    return whys.find((why) => why !== undefined) ?? 'no runner serves them'
  }

  /** Teams that no runner serves and, where runners are made on demand, for which none is about to be made. */
  #in(pool: string): string[] {
    const capacity = this.#capacity.of(pool)
    if (capacity !== undefined && capacity.trouble === '' && capacity.runners < capacity.mostRunners) return []
    return this.#backlog
      .teams(pool)
      .filter((team) => this.#slots.isUnserved(pool, team, this.#backlog.languages(pool, team)))
  }
}
