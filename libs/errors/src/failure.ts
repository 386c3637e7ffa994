/**
 * What kind of failure it is; decides the gRPC status and the HTTP status.
 * The names are those of gRPC, in lower case.
 */
export type FailureKind =
  | 'invalid_argument'
  | 'unauthenticated'
  | 'permission_denied'
  | 'not_found'
  | 'already_exists'
  | 'failed_precondition'
  | 'too_large'
  | 'resource_exhausted'
  | 'unavailable'
  | 'deadline_exceeded'
  | 'unimplemented'
  | 'internal'

/** A fault in one field of the caller's input: an RFC 6901 pointer into it and a sentence. */
export interface FieldFault {
  path: string
  message: string
}

interface FailureOptions {
  /** What really happened; logged, never shown to a caller. */
  cause?: unknown
  /** For invalid_argument: which fields, and why. */
  fields?: FieldFault[]
  /** For unavailable and resource_exhausted: when to try again, in seconds. */
  retryAfterS?: number
  /** The execution that the failure belongs to. */
  executionId?: string
  /** What the code of that execution has failed with, for callers who may read it. */
  error?: CodeError
  /** For scope_missing: the word that the caller's token would need. */
  requiredScope?: string
  /** For changed_meanwhile: the present state of what was to be changed. */
  present?: PresentState
}

/** Which state of a record is the present one, and whose. */
export interface PresentState {
  /** With its quotes. */
  etag: string
  updatedBy: string
  /** RFC 3339 in UTC. */
  updatedAt: string
}

/** A failure of process code. */
export interface CodeError {
  name: string
  message: string
  /** Of the source of the process. */
  line?: number
}

/**
 * The one error that crosses a boundary between parts: a kind, a stable code word, and a text that is safe to show.
 * Everything else that is thrown counts as `internal` and its text stays inside.
 */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly kind: FailureKind
  /** A stable word such as `process_not_found`. */
  readonly code: string
  readonly fields: FieldFault[]
  readonly retryAfterS: number | undefined
  readonly executionId: string | undefined
  readonly error: CodeError | undefined
  readonly requiredScope: string | undefined
  readonly present: PresentState | undefined

  constructor(kind: FailureKind, code: string, publicText: string, options: FailureOptions = {}) {
    super(publicText, options.cause === undefined ? undefined : { cause: options.cause })
    this.kind = kind
    this.code = code
    this.fields = options.fields ?? []
    this.retryAfterS = options.retryAfterS
    this.executionId = options.executionId
    this.error = options.error
    this.requiredScope = options.requiredScope
    this.present = options.present
  }
}

/** Input that is wrong in one field: `path` is an RFC 6901 pointer such as `/settings/timeout`. */
export function invalid(path: string, message: string, code = 'invalid_input'): Failure {
  return new Failure('invalid_argument', code, message, { fields: [{ path, message }] })
}

/**
 * Something that is not there, or not for this caller: `notFound('process')` has the code `process_not_found`. `publicText`
 * may name what was asked for, and must not tell the one case from the other.
 */
export function notFound(what: string, publicText?: string): Failure {
  const name = what.replaceAll('_', ' ')
  const text = publicText ?? `${name.charAt(0).toUpperCase()}${name.slice(1)} not found`
  return new Failure('not_found', `${what}_not_found`, text)
}

/** There is as much of something as there may be; `inUse` says how much of what, `setting` what the operator may raise. */
export function limitReached(inUse: string, setting: string): Failure {
  const text = `${inUse}, and may have no more: delete some, or ask the operator to raise ${setting}`
  return new Failure('failed_precondition', 'limit_reached', text)
}

/** A part that is away for the moment; the caller may try again after `retryAfterS` seconds. */
export function unavailable(publicText: string, cause?: unknown, retryAfterS = 1): Failure {
  return new Failure('unavailable', 'unavailable', publicText, { cause, retryAfterS })
}

/** This process ends, and has done nothing of what it was asked for: another one may be asked at once. */
export function stopping(): Failure {
  return new Failure('unavailable', stoppingCode, 'The service is stopping, try again', { retryAfterS: 1 })
}

/** The code of `stopping` failures. */
export const stoppingCode = 'stopping'

/** The executions of the team are not here, or not here any more; nothing was done. Another cell has them, or will within seconds. */
export function teamMoved(): Failure {
  const text = 'The executions of the team are being moved, try again'
  return new Failure('unavailable', teamMovedCode, text, { retryAfterS: 2 })
}

/** The code of `teamMoved` failures. */
export const teamMovedCode = 'team_moved'

/** Whether it may go well when it is tried again: what was asked is away, or did not answer in time. */
export function isPassing(thrown: unknown): boolean {
  const { kind } = asFailure(thrown)
  return kind === 'unavailable' || kind === 'deadline_exceeded'
}

/** Any thrown value as a Failure; what is none becomes `internal` with the value as its cause. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  return new Failure('internal', 'internal_error', 'Internal error', { cause: thrown })
}
