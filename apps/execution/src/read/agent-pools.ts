import type { Language } from '@automation/contract/common/v1/language'
import { allLanguages } from '../dispatch/languages.ts'
import type { KnownPools } from '../dispatch/known-pools.ts'
import type { Slots } from '../dispatch/slots.ts'
import { readLivingRunners, type LivingRunner } from '../store/demand.ts'
import type { Queries } from '../store/connections.ts'

/** A pool as a team sees it. */
export interface AgentPool {
  slug: string
  languages: Language[]
  slots: number
  freeSlots: number
}

/** For so long one read of a pool's runners serves all who ask. */
const keptMs = 1000

/** The pools that runs may ask for. */
export class AgentPools {
  readonly #reads: Queries
  readonly #slots: Slots
  readonly #pools: KnownPools
  readonly #known = new Map<string, { untilMs: number; runners: Promise<LivingRunner[]> }>()

  constructor(reads: Queries, slots: Slots, pools: KnownPools) {
    this.#reads = reads
    this.#slots = slots
    this.#pools = pools
  }

  /** With the slots of runners that serve every team, this one, or nobody yet; one that drains has no more than its runs hold. */
  list(team: string): Promise<AgentPool[]> {
    return Promise.all(
      this.#pools.of(team).map(async (slug) => {
        const runners = (await this.#runners(slug))
          .filter((runner) => runner.team === '' || runner.team === team)
          .map(({ slots, running, drains }) => ({ slots: drains ? running : slots, running }))
        const kinds = this.#slots.kinds(slug)
        return {
          slug,
          languages: allLanguages.filter((language) => kinds.some((kind) => kind.includes(language))),
          slots: runners.reduce((sum, { slots }) => sum + slots, 0),
          freeSlots: runners.reduce((sum, { slots, running }) => sum + Math.max(slots - running, 0), 0),
        }
      }),
    )
  }

  #runners(pool: string): Promise<LivingRunner[]> {
    const known = this.#known.get(pool)
    if (known !== undefined && performance.now() < known.untilMs) return known.runners
    const runners = readLivingRunners(this.#reads, [pool])
    this.#known.set(pool, { untilMs: performance.now() + keptMs, runners })
    // What failed is asked for again.
    runners.catch(() => this.#known.delete(pool))
    return runners
  }
}
