import type { Language } from '@automation/contract/common/v1/language'
import type { Slots } from './slots.ts'

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
  readonly #reported = new Map<string, Capacity & { untilMs: number }>()

  constructor(slots: Slots) {
    this.#slots = slots
  }

  report(pool: string, capacity: Capacity): void {
    this.#reported.set(pool, { ...capacity, untilMs: performance.now() + believedMs })
  }

  /** Undefined where the pool's runners are not made on demand, or nobody has said so lately. */
  of(pool: string): Capacity | undefined {
    const reported = this.#reported.get(pool)
    return reported !== undefined && performance.now() < reported.untilMs ? reported : undefined
  }

  /** Why no runner that is here can serve this team's runs in this language, in words; undefined where one can, now or later. */
  whyNone(pool: string, team: string, language: Language): string | undefined {
    const why = this.#slots.whyNone(pool, team, language)
    const capacity = this.of(pool)
    if (why === undefined || capacity === undefined) return why
    const kinds = this.#slots.kinds(pool)
    // More of the same pods would not help.
    const isOfLanguage = kinds.length > 0 && !kinds.some((languages) => languages.includes(language))
    return isOfLanguage ? why : wordsOf(pool, capacity)
  }
}

/** For a run that waits. */
export function wordsOf(pool: string, { runners, mostRunners, trouble }: Capacity): string {
  if (trouble !== '') return `no runner pod of the pool ${pool} serves the team, and ${trouble}`
  return runners < mostRunners
    ? `a runner pod is made for the team: ${runners} of ${mostRunners} of the pool ${pool} are there`
    : `all ${mostRunners} runner pods of the pool ${pool} serve other teams: the next one with nothing to do makes room`
}
