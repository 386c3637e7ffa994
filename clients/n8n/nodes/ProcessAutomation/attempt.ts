import { NodeApiError, type IExecuteFunctions, type IN8nHttpFullResponse } from 'n8n-workflow'
import { answerOf, problemOf, refusal, type ApiRequest } from './api.ts'

/** What one try gives. `pauseMs`: how long to wait before the same is asked again; undefined where the error stands. */
type Attempt = { answer: IN8nHttpFullResponse } | { error: Error; pauseMs: number | undefined }

const defaultPauseMs = 1000

/** The faults that pass, as n8n names them: statuses of answers, and codes of connections that are refused or cut. */
const passing = new Set([
  ...['429', '502', '503', '504'],
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
])

/** One try of a start that waits for the end of its run, under an idempotency key. */
export async function attempt(context: IExecuteFunctions, request: ApiRequest): Promise<Attempt> {
  try {
    const answer = await answerOf(context, request)
    if (answer.statusCode < 400) return { answer }
    return { error: refusal(context, answer, request.itemIndex), pauseMs: pauseMsOf(answer) }
  } catch (error) {
    const passes = error instanceof NodeApiError && passing.has(error.httpCode ?? '')
    return { error: error as Error, pauseMs: passes ? defaultPauseMs : undefined }
  }
}

/** A rejected run stays so under its key. A wait that the service gave up is no failure: the run goes on. */
function pauseMsOf({ statusCode, headers, body }: IN8nHttpFullResponse): number | undefined {
  const code = problemOf(body)?.code
  if (statusCode === 408 && code === 'execution_timeout') return 0
  if (!passing.has(String(statusCode)) || code === 'execution_rejected') return undefined
  const seconds = Number(headers['retry-after'])
  return seconds > 0 ? seconds * 1000 : defaultPauseMs
}
