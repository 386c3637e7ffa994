import type { FedEventBus } from '@automation/events'
import type { Member } from '@automation/rpc'
import type { Connections } from '../store/connections.ts'
import { removeSome } from '../store/deleted-processes.ts'
import { hasMoreOfTeam, readLivingOfTeam, removeRestOfTeam } from '../store/removed-teams.ts'
import type { ForcedEnds } from './forced-ends.ts'

const batch = 500

/** What the operator ends and removes of a team. */
export class TeamRemoval {
  readonly #pool: Connections
  readonly #forced: ForcedEnds
  readonly #events: Pick<FedEventBus, 'readers'>

  constructor(pool: Connections, forced: ForcedEnds, events: Pick<FedEventBus, 'readers'>) {
    this.#events = events
    this.#pool = pool
    this.#forced = forced
  }

  /** Kills some of its runs, those that wait only where they are asked for; tells whether there were none. */
  async stop(by: Member, alsoWaiting: boolean): Promise<{ ended: number; done: boolean }> {
    const living = await readLivingOfTeam(this.#pool, by.team, alsoWaiting)
    const killed = await this.#forced.kill(living, 'Killed by the operator', by)
    return { ended: killed.length, done: living.length === 0 }
  }

  /** Removes some of what there is of the team, once nothing of it runs; what others have still to be told goes last. */
  async remove(team: string): Promise<{ removed: number; done: boolean }> {
    const executions = await removeSome(this.#pool, { team }, [...this.#events.readers], batch)
    if (executions > 0 || (await hasMoreOfTeam(this.#pool, team))) return { removed: executions, done: false }
    const rest = await removeRestOfTeam(this.#pool, team)
    return { removed: rest, done: rest === 0 }
  }
}
