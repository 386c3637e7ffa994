import { CommanderError } from 'commander'
import { ExitError, exitCodes } from './exit.ts'

/** What is told of a failure, and what the program ends with. */
export interface Failure {
  exitCode: number
  code: string
  /** Empty where all is said already. */
  message: string
  requestId?: string
  errors: { path: string; message: string }[]
}

/** Reads what a command threw: ours, the parser's, the server's, or a fault of this program. */
export async function readFailure(error: unknown, env: Readonly<Record<string, string | undefined>>): Promise<Failure> {
  if (error instanceof ExitError)
    return {
      exitCode: error.code,
      code: error.reason,
      message: error.message,
      requestId: error.requestId,
      errors: error.errors,
    }
  if (error instanceof CommanderError) return usageFailure(error)
  const { ApiError, ConnectionError } = await import('@automation/client')
  if (error instanceof ApiError)
    return {
      exitCode: exitCodeOf(error.status, error.code),
      code: error.code,
      message: apiMessage(error),
      requestId: error.requestId,
      errors: [...error.errors],
    }
  if (error instanceof ConnectionError)
    return {
      exitCode: exitCodes.unreachable,
      code: 'unreachable',
      message: `${error.message}. "pas doctor" looks for the cause.`,
      errors: [],
    }
  return fault(error, env)
}

function usageFailure(error: CommanderError): Failure {
  const message = error.code === 'commander.help' ? 'A command is missing' : error.message.replace(/^error: /, '')
  return { exitCode: exitCodes.usage, code: 'usage', message, errors: [] }
}

/** The exit code of a refusal by its HTTP status. */
function exitCodeOf(status: number, code: string): number {
  if (status === 401 || code === 'api_token_malformed') return exitCodes.login
  if (status === 412 || code === 'changed_meanwhile') return exitCodes.conflict
  if (status === 408 || code === 'execution_timeout') return exitCodes.waitRanOut
  return exitCodes.refused
}

interface ApiFailure {
  status: number
  code: string
  message: string
  requestId?: string
  errors: readonly { path: string; message: string }[]
}

function apiMessage({ status, code, message, requestId, errors }: ApiFailure): string {
  const fields = errors.filter((one) => !message.includes(one.message)).map((one) => `\n  ${one.path}: ${one.message}`)
  return `${message}${fields.join('')}${nextStep({ status, code, requestId })}`
}

/** The command that shows what there is, by the code of a refusal. */
const listing: Readonly<Record<string, string>> = {
  process_not_found: 'pas processes list',
  execution_not_found: 'pas executions list',
  schedule_not_found: 'pas schedules list',
  sandbox_not_found: 'pas sandbox ls',
  object_not_found: 'pas storage ls',
  module_not_found: 'pas modules list',
}

function nextStep({ status, code, requestId }: Pick<ApiFailure, 'status' | 'code' | 'requestId'>): string {
  if (status === 401 || code === 'api_token_malformed') return '\nSign in by "pas login", or check PAS_TOKEN.'
  if (status >= 500 && requestId !== undefined) return `\nTell your operator this request: ${requestId}`
  if (code === 'tag_taken' || code === 'alias_taken')
    return '\nVersions and aliases share their names: choose another, or see "pas versions list" and "pas aliases list".'
  return listing[code] === undefined ? '' : `\nWhat there is: ${listing[code]}`
}

function fault(error: unknown, env: Readonly<Record<string, string | undefined>>): Failure {
  const { code, message, stack } = error as NodeJS.ErrnoException
  const isOfSystem = typeof code === 'string' && /^E[A-Z]+$/.test(code)
  const words = error instanceof Error ? (env['PAS_DEBUG'] ? (stack ?? message) : message) : String(error)
  return { exitCode: exitCodes.refused, code: isOfSystem ? code.toLowerCase() : 'failed', message: words, errors: [] }
}
