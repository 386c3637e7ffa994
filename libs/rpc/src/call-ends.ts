import { Failure } from '@automation/errors'

/** The deadline of a call is over. */
export function expired(cause?: unknown): Failure {
  return new Failure('deadline_exceeded', 'deadline_exceeded', 'The operation took too long', { cause })
}

/** The caller went away before the answer; nobody sees this but the caller's own code. */
export function cancelled(cause?: unknown): Failure {
  return new Failure('unavailable', 'call_cancelled', 'The call was cancelled', { cause })
}

/** Why a signal was aborted: its time was over, or the caller went. */
export function endOf(signal: AbortSignal): Failure {
  const reason: unknown = signal.reason
  if (reason instanceof Failure) return reason
  return (reason as { name?: unknown } | undefined)?.name === 'TimeoutError' ? expired(reason) : cancelled(reason)
}
