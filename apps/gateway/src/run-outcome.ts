import { Status, type Outcome } from '@automation/contract/execution/v1/execution'
import { Failure } from '@automation/errors'

const QUEUE_FULL_RETRY_S = 5

const utf8 = new TextDecoder()

/**
 * The JSON text that a finished run gives to who waited for it. Failures, each with the execution's id:
 * execution_failed, execution_killed, execution_rejected, execution_timeout (it still runs), and result_not_kept for the
 * replay of a run whose value was transient.
 */
export function returnedText(outcome: Outcome): string {
  if (outcome.status !== Status.FINISHED) throw unfinished(outcome)
  if (outcome.returnValue === undefined && outcome.replayed)
    throw new Failure('already_exists', 'result_not_kept', 'The result of this execution was not kept', {
      executionId: outcome.executionId,
    })
  return utf8.decode(outcome.returnValue) || 'null'
}

function unfinished({ status, executionId }: Outcome): Failure {
  switch (status) {
    case Status.ERROR:
      return new Failure('failed_precondition', 'execution_failed', 'Execution failed', { executionId })
    case Status.KILLED:
      return new Failure('failed_precondition', 'execution_killed', 'Execution killed', { executionId })
    case Status.REJECTED:
      return new Failure('resource_exhausted', 'execution_rejected', 'The queue of the team is full', {
        executionId,
        retryAfterS: QUEUE_FULL_RETRY_S,
      })
    default:
      return new Failure('deadline_exceeded', 'execution_timeout', 'Execution still running', { executionId })
  }
}
