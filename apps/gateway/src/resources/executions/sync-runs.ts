import { setTimeout as delay } from 'node:timers/promises'
import { ExecutionService, Status, type Outcome } from '@automation/contract/execution/v1/execution'
import { asFailure, Failure, stoppingCode } from '@automation/errors'
import { namedError } from '@automation/errors/code-error'
import type { CallContext, Client, Neighbours } from '@automation/rpc'
import type { StartRequest } from './input.ts'

/** Time for the answer itself on top of the wait for a run. */
const ANSWER_MARGIN_MS = 5_000

const PAUSE_MS = 250

/** Runs that their callers wait for. */
export class SyncRuns {
  readonly #neighbours: Neighbours
  readonly #executions: Client<typeof ExecutionService>
  readonly #waitMs: number

  constructor(neighbours: Neighbours, waitMs: number) {
    this.#neighbours = neighbours
    this.#executions = neighbours.client(ExecutionService)
    this.#waitMs = waitMs
  }

  /** How long a call of `run` may take. */
  get timeoutMs(): number {
    return this.#waitMs + ANSWER_MARGIN_MS
  }

  /**
   * Starts a run and waits for its end, at another replica where the one that waits stops. On a busy machine a replica may
   * take long to start, so one is looked for as long as the caller waits. Failures: those of RunExecution; once it is
   * started, with its id: those of AwaitExecution, and unavailable where there is no other replica.
   */
  async run(start: StartRequest, context: CallContext): Promise<Outcome> {
    const untilMs = performance.now() + this.#waitMs
    let outcome = await this.#executions.runExecution({ start, waitMs: this.#waitMs }, context)
    const { replayed } = outcome
    while (outcome.replicaStops)
      outcome = { ...(await this.#waitElsewhere(outcome.executionId, untilMs, context)), replayed }
    return outcome
  }

  async #waitElsewhere(executionId: string, untilMs: number, context: CallContext): Promise<Outcome> {
    for (;;) {
      const waitMs = Math.max(0, Math.round(untilMs - performance.now()))
      try {
        return await this.#executions.awaitExecution({ executionId, waitMs }, context)
      } catch (thrown) {
        const { kind, code, message } = asFailure(thrown)
        if (kind !== 'unavailable') throw new Failure(kind, code, message, { executionId, cause: thrown })
        const isLast = code === stoppingCode && this.#neighbours.replicas(ExecutionService).length === 1
        if (isLast || context.signal.aborted || waitMs === 0) throw stopping(executionId, thrown)
        await delay(PAUSE_MS)
      }
    }
  }
}

function stopping(executionId: string, cause: unknown): Failure {
  const text = 'The service is stopping; the execution goes on'
  return new Failure('unavailable', 'unavailable', text, { executionId, retryAfterS: 1, cause })
}

const QUEUE_FULL_RETRY_S = 5

const utf8 = new TextDecoder()

/**
 * The JSON text that a finished run gives to who waited for it. Failures, each with the execution's id:
 * execution_failed, execution_killed, execution_rejected, execution_timeout (it still runs), and result_not_kept for the
 * replay of a run whose value was transient. A caller who may read the execution is told what it has failed with, or why it
 * waits.
 */
export function returnedText(outcome: Outcome, { mayRead }: { mayRead: boolean }): string {
  if (outcome.status !== Status.FINISHED) throw unfinished(outcome, mayRead)
  if (outcome.returnValue === undefined && outcome.replayed)
    throw new Failure('already_exists', 'result_not_kept', 'The result of this execution was not kept', {
      executionId: outcome.executionId,
    })
  return utf8.decode(outcome.returnValue) || 'null'
}

type UnfinishedOutcome = Pick<Outcome, 'status' | 'executionId' | 'explanation' | 'errorLine'>

/** Why there is no value: the failure of a run that has not finished, or has not ended yet. */
export function unfinished(outcome: UnfinishedOutcome, mayRead: boolean): Failure {
  const { status, executionId, explanation = '', errorLine } = outcome
  switch (status) {
    case Status.ERROR:
      return new Failure('failed_precondition', 'execution_failed', 'Execution failed', {
        executionId,
        error: mayRead
          ? { ...namedError(explanation), ...(errorLine !== undefined && { line: errorLine }) }
          : undefined,
      })
    case Status.KILLED:
      return new Failure('failed_precondition', 'execution_killed', 'Execution killed', { executionId })
    case Status.REJECTED:
      return new Failure('resource_exhausted', 'execution_rejected', 'The queue of the team is full', {
        executionId,
        retryAfterS: QUEUE_FULL_RETRY_S,
      })
    default:
      return new Failure('deadline_exceeded', 'execution_timeout', stillThere(outcome, mayRead), { executionId })
  }
}

function stillThere({ status, explanation }: UnfinishedOutcome, mayRead: boolean): string {
  if (status === Status.RUNNING) return 'Execution still running'
  return mayRead && explanation ? `Execution still waiting: ${explanation}` : 'Execution still waiting'
}
