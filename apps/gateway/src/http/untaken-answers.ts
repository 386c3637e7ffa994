import { Tally } from '@automation/service'
import type { Exchange } from './exchange.ts'

// What each team has in any case, whatever others leave untaken.
const TEAM_SHARE = 1 / 16

/**
 * Bounds what answers of teams hold that their clients have not taken yet. Those that are of no team are small, or share
 * their bytes with others.
 */
export class UntakenAnswers {
  readonly #maxBytes: number
  readonly #byTeam = new Tally()
  #heldBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Whether there is room for what is left of an answer; it counts until `release`. */
  take(exchange: Exchange, bytes: number): boolean {
    const { team } = exchange
    if (team === '') return true
    const isFull = this.#heldBytes + bytes > this.#maxBytes
    if (isFull && this.#byTeam.of(team) + bytes > this.#maxBytes * TEAM_SHARE) return false
    exchange.untakenBytes = bytes
    this.#heldBytes += bytes
    this.#byTeam.add(team, bytes)
    return true
  }

  /** Its client has taken it, or has gone. */
  release(exchange: Exchange): void {
    this.#heldBytes -= exchange.untakenBytes
    this.#byTeam.add(exchange.team, -exchange.untakenBytes)
    exchange.untakenBytes = 0
  }
}
