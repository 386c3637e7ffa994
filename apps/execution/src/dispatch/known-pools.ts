import type { Logger } from '@automation/service'
import { readPoolOwners } from '../store/team-pools.ts'
import type { Queries } from '../store/connections.ts'

export interface KnownPoolsContext {
  pool: Queries
  /** Of the settings: they serve all teams. */
  shared: readonly string[]
  logger: Logger
}

/** The pools that there are: those of the settings, and those of one team each, as the rows said at the last look. */
export class KnownPools {
  readonly #context: KnownPoolsContext
  /** Each team's own, by its slug. */
  #own = new Map<string, string[]>()
  /** A pool of a team stays its own, also where the settings name it later. */
  #shared: readonly string[]
  #clashing = ''

  constructor(context: KnownPoolsContext) {
    this.#context = context
    this.#shared = context.shared
  }

  /** What runs of a team may ask for: the shared ones first. */
  of(team: string): readonly string[] {
    const own = this.#own.get(team)
    return own === undefined ? this.#shared : [...this.#shared, ...own]
  }

  get all(): string[] {
    return [...this.#shared, ...[...this.#own.values()].flat()]
  }

  /** Whether the settings name it. */
  isOfSettings(name: string): boolean {
    return this.#context.shared.includes(name)
  }

  async look(): Promise<void> {
    const rows = await readPoolOwners(this.#context.pool)
    const names = new Set(rows.map(({ name }) => name))
    this.#own = new Map()
    for (const { name, team } of rows) this.#own.set(team, [...(this.#own.get(team) ?? []), name])
    this.#shared = this.#context.shared.filter((name) => !names.has(name))
    this.#warn([...names].filter((name) => this.isOfSettings(name)))
  }

  #warn(clashing: string[]): void {
    if (clashing.join() === this.#clashing) return
    this.#clashing = clashing.join()
    if (clashing.length > 0)
      this.#context.logger.warn({ pools: clashing }, 'AGENT_POOLS names pools that are one team’s: they stay so')
  }
}
