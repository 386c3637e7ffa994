import { Failure } from '@automation/errors'

/** PostgreSQL could not be started; `reason` says what to do about it. */
export function notStarted(reason: string, cause?: unknown): Failure {
  return new Failure('failed_precondition', 'postgres_not_started', `PostgreSQL can't be started: ${reason}`, { cause })
}
