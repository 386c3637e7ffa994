import type { Child } from './child.ts'
import { sparesWanted } from './policy.ts'
import type { ChildLanguage } from './programs.ts'
import type { ShownPackages } from './task.ts'
import { Wants } from './wants.ts'

const takenLatelyMs = 10_000

/**
 * The blank children of a language at hand, how many there should be, and who waits for one. Those that find packages are
 * started for whoever waits, and none are kept.
 */
export class Spares {
  readonly language: ChildLanguage
  readonly packages: ShownPackages | undefined
  readonly wants = new Wants()
  readonly #configured: number
  readonly #blank: Child[] = []
  #takenAt: number[] = []

  constructor(language: ChildLanguage, configured: number, packages?: ShownPackages) {
    this.language = language
    this.packages = packages
    this.#configured = configured
  }

  add(child: Child): void {
    this.#blank.push(child)
  }

  take(): Child | undefined {
    const child = this.#blank.pop()
    if (child !== undefined) this.#takenAt.push(performance.now())
    return child
  }

  remove(child: Child): void {
    const at = this.#blank.indexOf(child)
    if (at >= 0) this.#blank.splice(at, 1)
  }

  /** Those that are more than wanted, the oldest first. */
  takeSurplus(): Child[] {
    return this.#blank.splice(0, Math.max(0, this.count - this.wanted))
  }

  /** One that nobody waits for, where its memory is wanted. */
  giveUp(): Child | undefined {
    return this.wants.count === 0 ? this.#blank.shift() : undefined
  }

  get count(): number {
    return this.#blank.length
  }

  get wanted(): number {
    const since = performance.now() - takenLatelyMs
    this.#takenAt = this.#takenAt.filter((at) => at > since)
    return this.packages !== undefined ? 0 : sparesWanted(this.#configured, this.#takenAt.length)
  }
}
