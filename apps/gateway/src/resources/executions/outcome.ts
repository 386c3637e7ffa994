import { Status, type Outcome } from '@automation/contract/execution/v1/execution'
import { Failure, type CodeError } from '@automation/errors'

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

function unfinished(outcome: Outcome, mayRead: boolean): Failure {
  const { status, executionId } = outcome
  switch (status) {
    case Status.ERROR:
      return new Failure('failed_precondition', 'execution_failed', 'Execution failed', {
        executionId,
        error: mayRead ? codeError(outcome) : undefined,
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

/** What code has failed with, of `Name: message`; what the service says of a run has no name of its own. */
function codeError({ explanation = '', errorLine }: Outcome): CodeError {
  const [, name = 'Error', message = explanation] =
    /^([\p{L}_$][\p{L}\p{N}_$.]*)(?:: ([^]*))?$/u.exec(explanation) ?? []
  return { name, message: message === name ? '' : message, ...(errorLine !== undefined && { line: errorLine }) }
}

function stillThere({ status, explanation }: Outcome, mayRead: boolean): string {
  if (status === Status.RUNNING) return 'Execution still running'
  return mayRead && explanation ? `Execution still waiting: ${explanation}` : 'Execution still waiting'
}
