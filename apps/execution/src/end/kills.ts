import { Failure } from '@automation/errors'
import type { Member } from '@automation/rpc'
import type { ForcedEnds } from './forced-ends.ts'
import { visibleId } from '../store/records.ts'
import type { Queries } from '../store/connections.ts'

/** Kills on a user's behalf, wherever the run is. */
export class Kills {
  readonly #pool: Queries
  readonly #forced: ForcedEnds

  constructor(pool: Queries, forced: ForcedEnds) {
    this.#pool = pool
    this.#forced = forced
  }

  /** KILLED when it returns. Failures: execution_not_found; failed_precondition execution_ended. */
  async kill(by: Member, id: string): Promise<void> {
    const key = await visibleId(this.#pool, by.team, id)
    const killed = await this.#forced.kill([key], `Killed by ${by.name}`, by)
    if (killed.length === 0)
      throw new Failure('failed_precondition', 'execution_ended', 'The execution has ended', { executionId: key })
  }
}
