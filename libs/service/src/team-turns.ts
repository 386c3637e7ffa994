/** Things that wait, team by team in turn; of one team those first that came first. */
export class TeamTurns<T> {
  // In the order of whose turn it is.
  readonly #waiting = new Map<string, T[]>()

  add(team: string, item: T): void {
    const others = this.#waiting.get(team)
    if (others === undefined) this.#waiting.set(team, [item])
    else others.push(item)
  }

  /** Takes what comes next; undefined where nothing waits. */
  next(): T | undefined {
    const first = this.#waiting.entries().next().value
    if (first === undefined) return undefined
    const [team, items] = first
    const item = items.shift()
    this.#waiting.delete(team)
    if (items.length > 0) this.#waiting.set(team, items)
    return item
  }

  /** What waits of one team. */
  of(team: string): readonly T[] {
    return this.#waiting.get(team) ?? []
  }

  /** Takes all. */
  clear(): T[] {
    const all = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    return all
  }
}
