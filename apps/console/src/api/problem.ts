import type { components } from './generated/rest-interface.ts'

export type Problem = components['schemas']['Problem']

/** What the service refused or failed with, as problem details. */
export class ProblemError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.name = 'ProblemError'
    this.problem = problem
  }

  /** The faults of the input, by JSON pointer. */
  get faults(): ReadonlyMap<string, string> {
    return new Map((this.problem.errors ?? []).map(({ path, message }) => [path, message]))
  }
}

/** The problem of an answer that is not good: its own, or one made of its status where it has none. */
export async function problemOf(response: Response): Promise<ProblemError> {
  const type = response.headers.get('Content-Type') ?? ''
  if (type.includes('json')) {
    try {
      return new ProblemError((await response.json()) as Problem)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }
  const detail = `The service answered ${response.status} ${response.statusText}`.trim()
  return new ProblemError({
    type: 'about:blank',
    title: response.statusText,
    status: response.status,
    detail,
    message: detail,
    instance: URL.parse(response.url)?.pathname ?? '',
    code: 'no_problem_details',
    requestId: response.headers.get('X-Request-Id') ?? '',
  })
}
