import { Status } from '@automation/contract/execution/v1/execution'
import { Failure } from '@automation/errors'
import type { Member } from '@automation/rpc'
import { failPoint } from '@automation/service'
import type { Runners } from '../dispatch/runners.ts'
import type { Metrics } from '../metrics.ts'
import type { Peers } from '../dispatch/peers.ts'
import type { RunTraces } from '../run-traces.ts'
import type { Signals } from '../signals.ts'
import type { Partitions } from '../store/partitions.ts'
import { before } from '../status.ts'
import { visibleId } from '../store/records.ts'
import { forceEnds, type ForcedEnd } from '../store/forced-ends.ts'
import type { Waiters } from './waiters.ts'
import type { Queries } from '../store/connections.ts'

interface ForcedEndsContext {
  pool: Queries
  partitions: Partitions
  runners: Runners
  waiters: Waiters
  peers: Peers
  metrics: Metrics
  traces: RunTraces
  signals: Signals
}

/**
 * Ends that do not come from the runs: kills, lost runners, service stops. One compare-and-set, then whoever is concerned
 * hears of it.
 */
export class ForcedEnds {
  readonly #context: ForcedEndsContext

  constructor(context: ForcedEndsContext) {
    this.#context = context
  }

  /** Kills what has not ended yet, `by` somebody only in their team; gives the ids that this call has killed. */
  kill(ids: string[], explanation: string, by?: Member): Promise<string[]> {
    return this.#end({ ids, from: before(Status.KILLED), to: Status.KILLED, explanation, by, team: by?.team })
  }

  /** Kills one on a member's behalf, wherever it is. Failures: execution_not_found; failed_precondition execution_ended. */
  async killFor(by: Member, id: string): Promise<void> {
    const key = await visibleId(this.#context.pool, by.team, id)
    const killed = await this.kill([key], `Killed by ${by.name}`, by)
    if (killed.length === 0)
      throw new Failure('failed_precondition', 'execution_ended', 'The execution has ended', { executionId: key })
  }

  /** Ends runs that can't go on; those that are not RUNNING any more stay as they are. */
  fail(ids: string[], explanation: string): Promise<string[]> {
    return this.#end({ ids, from: [Status.RUNNING], to: Status.ERROR, explanation })
  }

  /** Ends runs that wait and will not begin; those that wait no more stay as they are. */
  failWaiting(ids: string[], explanation: string): Promise<string[]> {
    return this.#end({ ids, from: [Status.CREATED, Status.QUEUED], to: Status.ERROR, explanation })
  }

  async #end(end: ForcedEnd): Promise<string[]> {
    const { pool, partitions, runners, waiters, peers, metrics, traces, signals } = this.#context
    const ids = await partitions.kept(end.ids)
    if (ids.length === 0) return []
    const rows = await forceEnds(pool, { ...end, ids })
    if (rows.length > 0 && end.to === Status.KILLED) failPoint('kill-after-commit')
    if (rows.length > 0) signals.changed.emit(rows.map(({ id }) => id))
    for (const row of rows) {
      const { id, team, sessionId, was } = row
      metrics.ended.inc({ status: Status[end.to] })
      traces.ended(row, end.to)
      if (was === Status.RUNNING) {
        runners.kill(id, sessionId ?? undefined)
        runners.ended(id)
        signals.slotFreed.emit(team)
      }
      waiters.settle(id, { status: end.to, explanation: end.explanation })
      peers.ended(id)
    }
    return rows.map(({ id }) => id)
  }
}
