import type { Language } from '@automation/contract/common/v1/language'
import type { Capacity as Reported } from '@automation/contract/runner/v1/demand'
import type { Logger } from '@automation/service'
import { wantedFor } from './languages.ts'
import type { Slots } from './slots.ts'
import type { Backlog } from './backlog.ts'
import type { RunLimits } from '../run-limits.ts'

/** How many runners can be made on demand, as reported by the service that makes them. */
export interface Capacity {
  /** Runners that exist or are being made. */
  runners: number
  mostRunners: number
  /** Why none can be had now, in words for users; empty where nothing is wrong. */
  trouble: string
}

const believedMs = 15_000

/** Why a team waits for a runner, where runners are made on demand. */
export class RunnerCapacity {
  readonly #slots: Slots
  readonly #reported = new Map<string, { capacity: Reported; untilMs: number }>()

  constructor(slots: Slots) {
    this.#slots = slots
  }

  report(pool: string, capacity: Reported): void {
    this.#reported.set(pool, { capacity, untilMs: performance.now() + believedMs })
  }

  /** Undefined where the pool's runners are not made on demand, or nobody has said so lately. */
  of(pool: string): Reported | undefined {
    const reported = this.#reported.get(pool)
    return reported !== undefined && performance.now() < reported.untilMs ? reported.capacity : undefined
  }

  /** Why no runner that is here can serve this team's runs in this language, in words; undefined where one can, now or later. */
  whyNone(pool: string, team: string, language: Language): string | undefined {
    const why = this.#slots.whyNone(pool, team, language)
    const capacity = this.of(pool)
    if (why === undefined || capacity === undefined) return why
    // More of the same pods would not help.
    return this.#slots.isLacking(pool, language) ? why : wordsOf(pool, capacity)
  }
}

/** For a run that waits. */
export function wordsOf(pool: string, { runners, mostRunners, trouble }: Capacity): string {
  if (trouble !== '') return `no runner pod of the pool ${pool} serves the team, and ${trouble}`
  return runners < mostRunners
    ? `a runner pod is made for the team: ${runners} of ${mostRunners} of the pool ${pool} are there`
    : `all ${mostRunners} runner pods of the pool ${pool} serve other teams: the next one with nothing to do makes room`
}

const tellEveryMs = 60_000

/** Tells the operator of teams that wait though runners are there: those that run their languages serve other teams. */
export class UnservedTeams {
  readonly #backlog: Backlog
  readonly #slots: Slots
  readonly #capacity: RunnerCapacity
  readonly #limits: Pick<RunLimits, 'held'>
  readonly #logger: Logger
  #nextMs = 0

  constructor(
    backlog: Backlog,
    slots: Slots,
    capacity: RunnerCapacity,
    limits: Pick<RunLimits, 'held'>,
    logger: Logger,
  ) {
    this.#backlog = backlog
    this.#slots = slots
    this.#capacity = capacity
    this.#limits = limits
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
    const { why, wanted } = this.#firstIn(pool)
    if (wanted !== undefined) return `${why}: one needs ${wanted}`
    if (capacity === undefined) return `${why}: more runners are needed, or such as serve many teams`
    if (capacity.trouble !== '') return `${capacity.trouble}: look at the sandbox service`
    return `all ${capacity.mostRunners} runner pods serve other teams, KUBERNETES_PODS allows no more`
  }

  /** Why none serves the first of them, and what a machine for one would have to have. */
  #firstIn(pool: string): { why: string; wanted?: string | undefined } {
    const [team = ''] = this.#in(pool)
    for (const language of this.#backlog.languages(pool, team)) {
      const why = this.#slots.whyNone(pool, team, language)
      if (why !== undefined)
        return { why, wanted: this.#slots.isLacking(pool, language) ? wantedFor(language) : undefined }
    }
    return { why: 'no runner serves them' }
  }

  /** Teams that no runner serves and, where runners are made on demand, for which none is about to be made. */
  #in(pool: string): string[] {
    const capacity = this.#capacity.of(pool)
    if (capacity !== undefined && capacity.trouble === '' && capacity.runners < capacity.mostRunners) return []
    const held = new Set(this.#limits.held)
    return this.#backlog
      .teams(pool)
      .filter((team) => !held.has(team) && this.#slots.isUnserved(pool, team, this.#backlog.languages(pool, team)))
  }
}
