/** Installs at a time on a runner: each may take as much of a machine as a run, and twice the memory of a set. */
const mostAtOnce = 6
const mostOfTeam = 2

/** Turns of installs: a few at a time, and two of a team, so that none waits for all that another team has asked for. */
export class InstallTurns {
  readonly #all = new Line(mostAtOnce)
  readonly #teams = new Map<string, Line>()

  /** Does an install when it is its turn. */
  async take<T>(team: string, install: () => Promise<T>): Promise<T> {
    const own = this.#teams.get(team) ?? new Line(mostOfTeam)
    this.#teams.set(team, own)
    try {
      return await own.use(() => this.#all.use(install))
    } finally {
      if (own.isFree) this.#teams.delete(team)
    }
  }
}

/** So many at a time: who comes later waits in line. */
class Line {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #begun = 0

  constructor(most: number) {
    this.#most = most
  }

  get isFree(): boolean {
    return this.#begun === 0
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#begun < this.#most) this.#begun += 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Who waits takes the turn over, so that nobody comes between.
      const next = this.#waiting.shift()
      if (next === undefined) this.#begun -= 1
      else next()
    }
  }
}
