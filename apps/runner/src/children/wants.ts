import type { Group } from './group.ts'

/** Groups that asked for a blank child. Teams that have few at work come first, then each in turn. */
export class Wants implements Iterable<Group> {
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
