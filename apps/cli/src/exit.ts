/** What the program ends with: part of its interface, so that scripts can tell apart what happened. */
export const exitCodes = {
  done: 0,
  /** The server refused, or an item of several failed. */
  refused: 1,
  usage: 2,
  /** Somebody else changed it meanwhile. */
  conflict: 3,
  /** Nobody is signed in, or the token is not accepted. */
  login: 4,
  /** A run ended otherwise than FINISHED. */
  runFailed: 5,
  waitRanOut: 6,
  unreachable: 7,
  /** `plan --check` found changes. */
  changesPending: 8,
  interrupted: 130,
} as const

/** Ends a command with its code; the message, where there is one, says what to do next. */
export class ExitError extends Error {
  readonly code: number
  /** A stable name for scripts, shown with `--json`. */
  readonly reason: string
  /** Faults of single fields or items. */
  readonly errors: { path: string; message: string }[]
  /** Of the call that the service refused. */
  readonly requestId: string | undefined

  constructor(
    code: number,
    message = '',
    options: {
      reason?: string
      errors?: { path: string; message: string }[]
      requestId?: string
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'ExitError'
    this.code = code
    this.reason = options.reason ?? reasonOf(code)
    this.errors = options.errors ?? []
    this.requestId = options.requestId
  }
}

/** A command line that can't be understood. */
export function usageError(message: string): ExitError {
  return new ExitError(exitCodes.usage, message)
}

const reasons: Readonly<Record<number, string>> = {
  1: 'refused',
  2: 'usage',
  3: 'conflict',
  4: 'login_required',
  5: 'run_failed',
  6: 'wait_ran_out',
  7: 'unreachable',
  8: 'changes_pending',
  130: 'interrupted',
}

const reasonOf = (code: number) => reasons[code] ?? 'failed'
