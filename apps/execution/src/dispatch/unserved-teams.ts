import type { Logger } from '@automation/service'
import type { Backlog } from './backlog.ts'
import type { Places } from './places.ts'

const tellEveryMs = 60_000
const remedy =
  'more runners are needed, in the languages of their processes, or with the wall none, WALL_NONE_MANY_TEAMS=true where teams trust each other'

/** Tells the operator of teams that wait though runners are there: those that run their languages serve other teams. */
export class UnservedTeams {
  readonly #backlog: Backlog
  readonly #places: Places
  readonly #logger: Logger
  #nextMs = 0

  constructor(backlog: Backlog, places: Places, logger: Logger) {
    this.#backlog = backlog
    this.#places = places
    this.#logger = logger
  }

  /** A run waits in this pool. Logged once in a while. */
  look(pool: string): void {
    if (performance.now() < this.#nextMs) return
    const teams = this.#in(pool)
    if (teams.length === 0) return
    this.#nextMs = performance.now() + tellEveryMs
    this.#logger.warn({ pool, teams: teams.length }, `teams wait for a runner that serves them: ${remedy}`)
  }

  /** For readiness; undefined where there are none. */
  get words(): string | undefined {
    const count = this.#backlog.pools().reduce((sum, pool) => sum + this.#in(pool).length, 0)
    return count === 0 ? undefined : `${count} teams wait for a runner that serves them: ${remedy}`
  }

  #in(pool: string): string[] {
    return this.#backlog
      .teams(pool)
      .filter((team) => this.#places.isUnserved(pool, team, this.#backlog.languages(pool, team)))
  }
}
