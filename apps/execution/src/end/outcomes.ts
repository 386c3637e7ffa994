import { Status } from '@automation/contract/execution/v1/execution'
import { Failure, stopping } from '@automation/errors'
import type { Accepted } from '../accept/admission.ts'
import type { Runners } from '../dispatch/runners.ts'
import { readOutcomes, readProgress } from '../store/executions.ts'
import { visibleId } from '../store/records.ts'
import type { RunOutcome, Waiters } from './waiters.ts'
import type { Queries } from '../store/connections.ts'

/** The answer to a sync caller. */
export interface SyncOutcome extends RunOutcome {
  executionId: string
  replayed: boolean
  /** Nobody waits here any more; the run goes on. */
  replicaStops?: boolean
}

/** Tells callers how runs end: by a wake-up when all goes well, by a look at the rows when one was missed. */
export class Outcomes {
  readonly #pool: Queries
  readonly #waiters: Waiters
  readonly #runners: Runners

  constructor(pool: Queries, waiters: Waiters, runners: Runners) {
    this.#pool = pool
    this.#waiters = waiters
    this.#runners = runners
  }

  /** The end of an accepted run, or where it is after `ms`. Failure already_exists result_not_kept. */
  async of(accepted: Accepted, ms: number, signal: AbortSignal): Promise<SyncOutcome> {
    const { id, replayed, waiter } = accepted
    const known = { executionId: id, replayed }
    if (waiter === undefined) return { ...known, status: accepted.status, explanation: accepted.explanation }
    try {
      const found = replayed ? (await this.look([id])).get(id) : undefined
      const outcome = found?.notKept ? found : await waiter.wait(ms, signal)
      if (outcome?.notKept) throw notKept(id)
      if (outcome !== undefined) return { ...known, ...outcome }
      if (this.#waiters.abandoned) return { ...known, status: accepted.status, replicaStops: true }
      return { ...known, ...((await readProgress(this.#pool, id)) ?? { status: Status.RUNNING }) }
    } finally {
      waiter.close()
    }
  }

  /**
   * The end of a run of this team that was accepted elsewhere. A transient value that came before is lost. Failures: those
   * of `of`, execution_not_found; stopping, when it has not waited.
   */
  async ofAnother(team: string, id: string, ms: number, signal: AbortSignal): Promise<SyncOutcome> {
    if (this.#waiters.abandoned) throw stopping()
    const key = await visibleId(this.#pool, team, id)
    const waiter = this.#waiters.open(key)
    return await this.of({ id: key, status: Status.CREATED, replayed: true, waiter }, ms, signal)
  }

  /** Answers whoever waits here for those of these runs that have ended, and ends what still runs of them; gives the ends. */
  async look(ids: string[]): Promise<Map<string, RunOutcome>> {
    const outcomes = await readOutcomes(this.#pool, ids)
    for (const [id, outcome] of outcomes) {
      this.#waiters.settle(id, outcome)
      if (!this.#runners.has(id)) continue
      this.#runners.kill(id)
      this.#runners.ended(id)
    }
    return outcomes
  }
}

function notKept(executionId: string): Failure {
  return new Failure(
    'already_exists',
    'result_not_kept',
    'The result of this execution was delivered once and not kept',
    {
      executionId,
    },
  )
}
