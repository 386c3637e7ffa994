import { notFound, unavailable } from '@automation/errors'
import type { TeamLimitRows } from '@automation/service'
import { notOfTheTeam } from './token-verifier.ts'

/** Where the tokens of a team may be used from. */
export class TeamAddresses {
  readonly #rows: Pick<TeamLimitRows, 'isKnown' | 'addressesOf' | 'isGone'>

  constructor(rows: Pick<TeamLimitRows, 'isKnown' | 'addressesOf' | 'isGone'>) {
    this.#rows = rows
  }

  /** Whether a team is being removed, or was lately. */
  isGone(team: string): boolean {
    return this.#rows.isGone(team)
  }

  /**
   * Failures: forbidden, as for a token of another team; team_not_found for one that is gone; unavailable while the lists
   * were never read.
   */
  check(team: string, ip: string): void {
    if (this.isGone(team)) throw notFound('team')
    if (!this.allow(team, ip)) throw notOfTheTeam()
  }

  /** Whether API tokens of this team are exchanged at this address. Failure unavailable while the lists were never read. */
  mayExchange(team: string, ip: string): boolean {
    return !this.isGone(team) && this.allow(team, ip)
  }

  /** Failure unavailable while the lists were never read. */
  allow(team: string, ip: string): boolean {
    if (!this.#rows.isKnown) throw unavailable('The service is starting, try again')
    return this.#rows.addressesOf(team)?.has(ip) ?? true
  }
}
