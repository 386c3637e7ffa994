import type { FieldFault, Problem } from './generated/types.ts'

/** What the service refused or failed with: the problem details of its answer. */
export class ApiError extends Error {
  /** Of HTTP. */
  readonly status: number
  /** A stable word such as `process_not_found`; later releases may add some. */
  readonly code: string
  /** For whoever looks at the service's log. */
  readonly requestId: string | undefined
  /** The faults of the input, each with its place as a JSON pointer. */
  readonly errors: readonly FieldFault[]
  /** After how long the service is to be asked again, where it said so. */
  readonly retryAfterMs: number | undefined
  /** The execution that the answer is about, if any. */
  readonly executionId: string | undefined
  /** The whole answer; some codes have more members, such as `requiredScope`. */
  readonly problem: Problem & Readonly<Record<string, unknown>>

  constructor(problem: Problem, response?: Pick<Response, 'headers'>) {
    super(problem.detail)
    this.name = new.target.name
    this.status = problem.status
    this.code = problem.code
    this.requestId = problem.requestId
    this.errors = problem.errors ?? []
    this.retryAfterMs = response === undefined ? undefined : retryAfterMs(response.headers, Date.now())
    this.executionId = problem.executionId ?? (response && executionIdOf(response.headers))
    this.problem = problem as ApiError['problem']
  }
}

export class BadRequestError extends ApiError {}
export class UnauthorizedError extends ApiError {}
export class ForbiddenError extends ApiError {}
export class NotFoundError extends ApiError {}
/** Nothing has failed: the answer did not come within the time that the service waits. What was started goes on. */
export class RequestTimeoutError extends ApiError {}
export class ConflictError extends ApiError {}
/** Somebody else was quicker: the record is no more what `ifMatch` says. */
export class PreconditionFailedError extends ApiError {}
export class TooLargeError extends ApiError {}
export class TooManyRequestsError extends ApiError {}
export class UnavailableError extends ApiError {}

const byStatus: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  408: RequestTimeoutError,
  409: ConflictError,
  412: PreconditionFailedError,
  413: TooLargeError,
  429: TooManyRequestsError,
  502: UnavailableError,
  503: UnavailableError,
  504: UnavailableError,
}

/** The service was not reached, or its answer was cut. Whether it did what was asked is not known. */
export class ConnectionError extends Error {
  /** `timeout` where `requestTimeoutMs` ran out. */
  readonly code: 'connection_failed' | 'timeout'

  constructor(message: string, options: { cause?: unknown; code?: ConnectionError['code'] } = {}) {
    super(message, { cause: options.cause })
    this.name = 'ConnectionError'
    this.code = options.code ?? 'connection_failed'
  }
}

/** A run that ended otherwise than by its value. */
export class RunError extends Error {
  /** How it ended. */
  readonly status: 'ERROR' | 'KILLED' | 'REJECTED'
  readonly executionId: string
  /** Why, in the service's words or those of the error that its code threw. */
  readonly explanation: string
  /** The last lines of its log, oldest first. */
  readonly logTail: readonly string[]

  constructor(run: Pick<RunError, 'status' | 'executionId' | 'explanation' | 'logTail'>) {
    super(`The run ended as ${run.status}: ${run.explanation}`)
    this.name = 'RunError'
    this.status = run.status
    this.executionId = run.executionId
    this.explanation = run.explanation
    this.logTail = run.logTail
  }
}

/** The error of an answer that is not good: its own problem, or one made of its status where something else answered. */
export async function apiErrorOf(response: Response): Promise<ApiError> {
  const problem = (await problemIn(response)) ?? madeOf(response)
  return new (byStatus[response.status] ?? ApiError)({ ...problem, status: response.status }, response)
}

async function problemIn(response: Response): Promise<Problem | undefined> {
  if (!response.headers.get('Content-Type')?.includes('json')) {
    await response.body?.cancel()
    return undefined
  }
  const text = await response.text()
  try {
    const read = JSON.parse(text) as Partial<Problem> | null
    // What stands before the service may answer in its own way.
    return typeof read?.code === 'string' && typeof read.detail === 'string' ? (read as Problem) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function madeOf(response: Response): Problem {
  const { status, statusText, headers, url } = response
  const leadsTo = redirectOf(response)
  const detail = leadsTo ?? `The service answered ${status} ${statusText}`.trim()
  return {
    ...{ type: 'about:blank', title: statusText, status, detail, message: detail },
    instance: URL.parse(url)?.pathname ?? '',
    code: leadsTo === undefined ? 'no_problem_details' : 'redirected',
    requestId: headers.get('X-Request-Id') ?? '',
  }
}

/** What is to be done about a redirect; undefined of another answer. Browsers hide its status, and where it leads. */
function redirectOf({ status, type, headers }: Response): string | undefined {
  const to = headers.get('Location')
  if (type !== 'opaqueredirect' && (status < 300 || status > 399 || to === null)) return undefined
  return `The service redirects to ${to ?? 'another address'}, which is not followed: give its own address as \`url\``
}

/** What `Retry-After` says, in milliseconds from `nowMs`; undefined where it says nothing. */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const text = headers.get('Retry-After')
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** The execution that an answer belongs to. The header's prefix is the operator's (`HEADER_PREFIX`). */
export function executionIdOf(headers: Headers): string | undefined {
  for (const [name, value] of headers) if (name.toLowerCase().endsWith('-execution-id')) return value
  return undefined
}
