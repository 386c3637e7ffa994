import type { Group } from './group.ts'

/** Groups that asked for a blank child: team by team in turn, those of a team in their order. */
export class Wants implements Iterable<Group> {
  readonly #byTeam = new Map<string, Group[]>()

  add(group: Group): void {
    const { team } = group.program
    const groups = this.#byTeam.get(team)
    if (groups === undefined) this.#byTeam.set(team, [group])
    else groups.push(group)
  }

  /** Whose turn it is. */
  get next(): Group | undefined {
    for (const [group] of this.#byTeam.values()) return group
    return undefined
  }

  /** Takes out whose turn it was. Served, it leaves the turn to the next team. */
  remove(isServed: boolean): void {
    for (const [team, groups] of this.#byTeam) {
      groups.shift()
      if (isServed || groups.length === 0) this.#byTeam.delete(team)
      if (isServed && groups.length > 0) this.#byTeam.set(team, groups)
      return
    }
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
