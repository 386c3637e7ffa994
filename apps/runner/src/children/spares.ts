import type { Child } from './child.ts'
import { sparesTarget } from './scaling-policy.ts'
import type { ChildLanguage } from './programs.ts'
import type { ShownPackages, Program } from './task.ts'
import type { Group } from './group.ts'

const assignedLatelyMs = 10_000

/**
 * The spare children of a language at hand, how many there should be, and who waits for one. Those that find packages are
 * started for whoever waits, and none are kept.
 */
export class Spares {
  readonly language: ChildLanguage
  readonly packages: ShownPackages | undefined
  readonly demand = new SpareDemand()
  readonly #configured: number
  readonly #children: Child[] = []
  #assignedAt: number[] = []

  constructor(language: ChildLanguage, configured: number, packages?: ShownPackages) {
    this.language = language
    this.packages = packages
    this.#configured = configured
  }

  add(child: Child): void {
    this.#children.push(child)
  }

  take(): Child | undefined {
    const child = this.#children.pop()
    if (child !== undefined) this.#assignedAt.push(performance.now())
    return child
  }

  remove(child: Child): void {
    const at = this.#children.indexOf(child)
    if (at >= 0) this.#children.splice(at, 1)
  }

  /** Those that are more than the target, the oldest first. */
  takeSurplus(): Child[] {
    return this.#children.splice(0, Math.max(0, this.count - this.target))
  }

  /** One that nobody waits for, where its memory is wanted. */
  giveUp(): Child | undefined {
    return this.demand.count === 0 ? this.#children.shift() : undefined
  }

  get count(): number {
    return this.#children.length
  }

  get target(): number {
    const since = performance.now() - assignedLatelyMs
    this.#assignedAt = this.#assignedAt.filter((at) => at > since)
    return this.packages !== undefined ? 0 : sparesTarget(this.#configured, this.#assignedAt.length)
  }
}

/** Groups that asked for a spare child. Teams that have few at work come first, then each in turn. */
export class SpareDemand implements Iterable<Group> {
  readonly #byTeam = new Map<string, Group[]>()

  add(group: Group): void {
    const { team } = group.program
    const groups = this.#byTeam.get(team)
    if (groups === undefined) this.#byTeam.set(team, [group])
    else groups.push(group)
  }

  /** Whose turn it is, where a team has so many children at work. */
  next(atWork: (team: string) => number): Group | undefined {
    let least = Infinity
    let next: Group | undefined
    for (const [team, [group]] of this.#byTeam) {
      const count = atWork(team)
      if (count >= least) continue
      least = count
      next = group
    }
    return next
  }

  /** Takes out the first of its team, whose turn is over then. */
  remove({ program: { team } }: Group): void {
    const [, ...rest] = this.#byTeam.get(team) ?? []
    this.#byTeam.delete(team)
    if (rest.length > 0) this.#byTeam.set(team, rest)
  }

  get count(): number {
    let count = 0
    for (const groups of this.#byTeam.values()) count += groups.length
    return count
  }

  *[Symbol.iterator](): Iterator<Group> {
    for (const groups of this.#byTeam.values()) yield* groups
  }
}

/** The spare children of each kind: of a language and, where they find packages, of those. */
export class SparesByKind {
  readonly byKind: Map<string, Spares>

  /** So many are kept at hand of each of these languages. */
  constructor(languages: ChildLanguage[], configured: number) {
    this.byKind = new Map(languages.map((language) => [language, new Spares(language, configured)]))
  }

  /** Those that may run a program. */
  for({ language, packages }: Program): Spares {
    const kind = packages === undefined ? language : `${language} ${packages.key}`
    const found = this.byKind.get(kind) ?? new Spares(language, 0, packages)
    this.byKind.set(kind, found)
    return found
  }

  /** Forgets packages that no child was started for, and nobody waits for. */
  tidy(used: Spares[]): void {
    for (const [kind, each] of this.byKind)
      if (each.packages !== undefined && each.demand.count === 0 && !used.includes(each)) this.byKind.delete(kind)
  }
}
