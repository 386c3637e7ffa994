import type { Language } from '@automation/contract/common/v1/language'
import type { Slots } from './slots.ts'

/** How it stands with runners that are made on demand, as whoever makes them says. */
export interface Supply {
  /** That there are or that are being made. */
  runners: number
  mostRunners: number
  /** Why none can be had now, in words for users; empty where nothing is wrong. */
  trouble: string
}

const believedMs = 15_000

/** Why a team waits for a runner, where runners are made on demand. */
export class RunnerSupply {
  readonly #slots: Slots
  readonly #reported = new Map<string, Supply & { untilMs: number }>()

  constructor(slots: Slots) {
    this.#slots = slots
  }

  report(pool: string, supply: Supply): void {
    this.#reported.set(pool, { ...supply, untilMs: performance.now() + believedMs })
  }

  /** Undefined where the pool's runners are not made on demand, or nobody has said so lately. */
  of(pool: string): Supply | undefined {
    const reported = this.#reported.get(pool)
    return reported !== undefined && performance.now() < reported.untilMs ? reported : undefined
  }

  /** Why no runner that is here can serve this team's runs in this language, in words; undefined where one can, now or later. */
  whyNone(pool: string, team: string, language: Language): string | undefined {
    const why = this.#slots.whyNone(pool, team, language)
    const supply = this.of(pool)
    if (why === undefined || supply === undefined) return why
    const kinds = this.#slots.kinds(pool)
    // More of the same pods would not help.
    const isOfLanguage = kinds.length > 0 && !kinds.some((languages) => languages.includes(language))
    return isOfLanguage ? why : wordsOf(pool, supply)
  }
}

/** For a run that waits. */
export function wordsOf(pool: string, { runners, mostRunners, trouble }: Supply): string {
  if (trouble !== '') return `no runner pod of the pool ${pool} serves the team, and ${trouble}`
  return runners < mostRunners
    ? `a runner pod is made for the team: ${runners} of ${mostRunners} of the pool ${pool} are there`
    : `all ${mostRunners} runner pods of the pool ${pool} serve other teams: the next one with nothing to do makes room`
}
