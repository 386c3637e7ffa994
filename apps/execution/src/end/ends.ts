import { isConnectionFailure } from '@automation/database'
import { Status } from '@automation/contract/execution/v1/execution'
import { failPoint, type Logger } from '@automation/service'
import type { Runners } from '../dispatch/runners.ts'
import { dayOf } from '../execution-id.ts'
import { BatchWriter } from '../store/batch-writer.ts'
import type { Metrics } from '../metrics.ts'
import type { Peers } from '../dispatch/peers.ts'
import type { RunTraces } from '../run-traces.ts'
import { isTerminal } from '../status.ts'
import type { Signals } from '../signals.ts'
import type { Partitions } from '../store/partitions.ts'
import { endingWeight, endRows, type Ended, type Ending } from '../store/end-rows.ts'
import type { Outcomes, Waiters } from './waiters.ts'
import { isTakenBack, type Queries } from '../store/connections.ts'

interface EndsContext {
  pool: Queries
  partitions: Partitions
  runners: Runners
  waiters: Waiters
  peers: Peers
  replicaId: string
  metrics: Metrics
  traces: RunTraces
  logger: Logger
  signals: Signals
  outcomes: Outcomes
  /** Aborted when this replica stops: results that can't be stored are left to the runner, which keeps them. */
  signal: AbortSignal
}

const longestPauseMs = 1000

/** Ends runs by their results. A result waits here until the database has it; callers are answered after that. */
export class Ends {
  readonly #context: EndsContext
  readonly #writer: BatchWriter<Ending, Ended | undefined>

  constructor(context: EndsContext) {
    this.#context = context
    this.#writer = new BatchWriter({
      flush: (endings) => this.#flush(endings),
      group: ({ id }) => dayOf(id),
      weight: endingWeight,
      // Whose a run is that others gave to its runner is not known here.
      owner: ({ id }) => context.runners.teamOf(id) || id,
      width: 2,
      isolates: (error) => !isConnectionFailure(error) || isTakenBack(error),
      repeats: (error) => isTakenBack(error) && !context.signal.aborted,
      metrics: context.metrics.writer('end'),
    })
  }

  /**
   * Returns when the run's row is terminal, by this ending or by another, or is not the ending runner's; `value` is what
   * sync callers get.
   */
  async end(ending: Ending, value?: Uint8Array): Promise<void> {
    const ended = await this.#store(ending)
    const { runners, waiters, peers, replicaId, signals, logger } = this.#context
    if (ended !== undefined && !isTerminal(ended.status)) {
      // The run goes on, and so does all that is known of it here.
      const { id, sessionId } = ending
      return logger.warn({ executionId: id, sessionId }, 'a result was refused: the run was not assigned to its runner')
    }
    runners.ended(ending.id)
    if (ended === undefined) return
    signals.slotFreed.emit(ended.team)
    if (!ended.stored) return this.#superseded(ending.id)
    const { status, explanation, errorLine, transient } = ending
    const outcome = { status, explanation, errorLine, returnValue: value, transient }
    waiters.settle(ending.id, outcome)
    if (ended.replicaId !== replicaId) peers.ended(ending.id, outcome, ended.replicaId)
  }

  idle(): Promise<void> {
    return this.#writer.idle()
  }

  /** Each run once, whoever brings its end again; `unknown`: an attempt before may have written it. */
  #tell(ended: (Ended | undefined)[], unknown: boolean): void {
    const { metrics, traces } = this.#context
    for (const one of new Set(ended)) {
      if (one === undefined || !(one.written || (unknown && one.stored))) continue
      metrics.ended.inc({ status: Status[one.status] })
      traces.ended(one, one.status)
    }
  }

  /** The row has another end than the one that was brought: whoever waits gets that one. */
  #superseded(id: string): void {
    const { outcomes, logger } = this.#context
    void outcomes.look([id]).catch((error: unknown) => logger.warn({ err: error }, 'look'))
  }

  async #store(ending: Ending): Promise<Ended | undefined> {
    try {
      return await this.#writer.add(ending)
    } catch (error) {
      if (isConnectionFailure(error)) throw error
      this.#context.logger.error({ err: error, executionId: ending.id }, 'a result could not be stored')
      const { id, fence, sessionId } = ending
      const explanation = 'The result could not be stored'
      const status = Status.ERROR
      return this.#writer.add({ id, fence, sessionId, status, transient: false, explanation, isOverruled: true })
    }
  }

  async #flush(endings: Ending[]): Promise<(Ended | undefined)[]> {
    const { pool, partitions, signal, signals } = this.#context
    let unknown = false
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        // Days that retention has dropped: nobody is to be told.
        if ((await partitions.kept([endings[0]!.id])).length === 0) return endings.map(() => undefined)
        failPoint('end-before-commit')
        const ended = await endRows(pool, endings)
        failPoint('end-after-commit')
        this.#tell(ended, unknown)
        signals.changed.emit(endings.map(({ id }) => id))
        return ended
      } catch (error) {
        // Where a team is locked, the others do not wait for it.
        if (!isConnectionFailure(error) || signal.aborted || isTakenBack(error)) throw error
        unknown = true
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }
  }
}
