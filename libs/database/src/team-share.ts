import { unavailable } from '@automation/errors'

interface Waiter {
  begin(): void
}

/** How long a call waits for its turn on a database, in ms: many writers of one team follow each other. */
export const turnMs = 4000

/** What may wait of one team. */
const mostWaiting = 1000

/**
 * A team's share of a pool of connections: half of them, so that what one team asks for at the same time leaves some for all others.
 * What comes beyond that waits for the team's own.
 */
export class TeamShare {
  readonly #most: number
  readonly #waitMs: number
  readonly #teams = new Map<string, { open: number; waiting: Waiter[] }>()

  /** `waitMs`: how long a call waits for its turn. */
  constructor(poolSize: number, waitMs = turnMs) {
    this.#most = Math.max(1, Math.floor(poolSize / 2))
    this.#waitMs = waitMs
  }

  /** Does what takes one connection, when it is its turn. Failure unavailable where that takes too long, or too much waits. */
  async use<T>(team: string, work: () => Promise<T>): Promise<T> {
    const at = this.#teams.get(team) ?? { open: 0, waiting: [] }
    this.#teams.set(team, at)
    if (at.open >= this.#most) await this.#turn(at.waiting)
    else at.open += 1
    try {
      return await work()
    } finally {
      // Who waits takes the turn over, so that nobody comes between.
      const next = at.waiting.shift()
      if (next !== undefined) next.begin()
      else if ((at.open -= 1) === 0) this.#teams.delete(team)
    }
  }

  #turn(waiting: Waiter[]): Promise<void> {
    if (waiting.length >= mostWaiting) return Promise.reject(tooMuch())
    return new Promise((resolve, reject) => {
      const waiter = {
        begin: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(waiter), 1)
        reject(tooMuch())
      }, this.#waitMs)
      waiting.push(waiter)
    })
  }
}

function tooMuch() {
  return unavailable('Your team asks for too much at the same time, try again')
}
