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
  #owners = new Map<string, string>()
  #clashing = ''

  constructor(context: KnownPoolsContext) {
    this.#context = context
  }

  /** What runs of a team may ask for: the shared ones first. */
  of(team: string): string[] {
    const own = [...this.#owners].filter(([, owner]) => owner === team).map(([name]) => name)
    return [...this.#shared, ...own]
  }

  get all(): string[] {
    return [...this.#shared, ...this.#owners.keys()]
  }

  /** Whether the settings name it. */
  isOfSettings(name: string): boolean {
    return this.#context.shared.includes(name)
  }

  async look(): Promise<void> {
    const rows = await readPoolOwners(this.#context.pool)
    this.#owners = new Map(rows.map(({ name, team }) => [name, team]))
    this.#warn(rows.map(({ name }) => name).filter((name) => this.isOfSettings(name)))
  }

  /** A pool of a team stays its own, also where the settings name it later. */
  get #shared(): string[] {
    return this.#context.shared.filter((name) => !this.#owners.has(name))
  }

  #warn(clashing: string[]): void {
    if (clashing.join() === this.#clashing) return
    this.#clashing = clashing.join()
    if (clashing.length > 0)
      this.#context.logger.warn({ pools: clashing }, 'AGENT_POOLS names pools that are one team’s: they stay so')
  }
}
