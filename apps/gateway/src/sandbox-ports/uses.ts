import { Failure } from '@automation/errors'
import { Tally } from '@automation/service'

/** The most uses at a time; each holds some memory here. */
export interface MostUses {
  inAll: number
  ofTeam: number
  ofSandbox: number
}

/** Counts what uses sandboxes at the same time. */
export class Uses {
  readonly #most: MostUses
  readonly #ofTeams = new Tally()
  readonly #ofSandboxes = new Tally()
  #inAll = 0

  constructor(most: MostUses) {
    this.#most = most
  }

  /** Counts one until what it gives is called, once. Failure: too_many_connections. */
  take({ sandboxId, team }: { sandboxId: string; team: string }): () => void {
    const { inAll, ofTeam, ofSandbox } = this.#most
    if (this.#inAll >= inAll || this.#ofTeams.of(team) >= ofTeam || this.#ofSandboxes.of(sandboxId) >= ofSandbox)
      throw new Failure('unavailable', 'too_many_connections', 'Sandboxes have too many connections, try again')
    const add = (by: number) => {
      this.#inAll += by
      this.#ofTeams.add(team, by)
      this.#ofSandboxes.add(sandboxId, by)
    }
    add(1)
    return () => add(-1)
  }
}
