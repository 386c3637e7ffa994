import { TeamService, type ErrorHandler } from '@automation/contract/catalog/v1/team'
import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import { LogLevel, Origin, Status } from '@automation/contract/execution/v1/execution'
import { asFailure, Failure, isPassing, teamMovedCode } from '@automation/errors'
import { installsProcessId } from '@automation/contract/installs'
import { asService, ownContext, type Client, type Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'
import type { Admission } from '../accept/admission.ts'
import type { StartRequest } from '../accept/start-request.ts'
import type { Signals } from '../signals.ts'
import type { Metrics } from '../metrics.ts'
import { readFailedRun, type FailedRun } from '../store/failed-runs.ts'
import { failureText } from '../store/failure-words.ts'
import { appendLineOnce } from '../store/log-pages.ts'
import { errorHandlerScope } from '../store/start-keys.ts'
import type { Queries } from '../store/connections.ts'

export interface ErrorHandlersContext {
  pool: Queries
  neighbours: Neighbours
  admission: Admission
  retentionDays: number
  patienceMs: number
  metrics: Metrics
  logger: Logger
  signals: Signals
}

const askTimeoutMs = 3000
const atOnce = 8

type HandlerOf = (team: string) => Promise<ErrorHandler | undefined>

/** Runs the process that a team has for it after each of its runs that ends in ERROR: once for each. */
export class ErrorHandlers {
  readonly #context: ErrorHandlersContext
  readonly #teams: Client<typeof TeamService>
  /** Monotonic ms of the first fault, by the failed run. */
  readonly #faultyFrom = new Map<string, number>()

  constructor(context: ErrorHandlersContext) {
    this.#context = context
    this.#teams = context.neighbours.client(TeamService)
  }

  /** Consumes lifecycle events. Fails where something is to be tried again: then the same ones come again. */
  async take(events: ExecutionEvent[], signal: AbortSignal): Promise<void> {
    const failures = events.filter(
      ({ status, processId }) => status === Status.ERROR && processId !== installsProcessId,
    )
    // Asked once for each batch: what a team changes counts from the next one on.
    const handlers = new Map<string, Promise<ErrorHandler | undefined>>()
    const handlerOf = (team: string) => handlers.get(team) ?? handlers.set(team, this.#handlerOf(team)).get(team)!
    const open = failures.values()
    const faults: unknown[] = []
    let isAway = false
    const work = async () => {
      for (const event of open) {
        if (isAway || signal.aborted) return
        const fault = await this.#attempt(event, handlerOf)
        if (fault === undefined) continue
        faults.push(fault)
        isAway ||= isPassing(fault)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    signal.throwIfAborted()
    // The time in which it is away is not counted.
    if (isAway || faults.length === 0) this.#faultyFrom.clear()
    if (faults.length > 0) throw faults.find(isPassing) ?? faults[0]
  }

  /** Gives the fault for which it is to be tried again. */
  async #attempt({ team, executionId: id }: ExecutionEvent, handlerOf: HandlerOf): Promise<unknown> {
    let handler: ErrorHandler | undefined
    try {
      handler = await handlerOf(team)
      if (handler !== undefined) await this.#handle(team, id, handler)
    } catch (error) {
      const failure = asFailure(error)
      // All of these events were told before a team leaves: what comes now came again.
      if (failure.code === teamMovedCode) return undefined
      const isLasting = failure.kind === 'not_found' || failure.code === 'team_suspended'
      if (!isLasting && (isPassing(error) || this.#isNew(id))) return error
      return this.#giveUp(team, id, handler, failure).catch((fault: unknown) => {
        if (isPassing(fault)) return fault
        this.#context.logger.error({ err: fault, executionId: id, team }, 'an error handler is passed over')
      })
    }
  }

  #isNew(id: string): boolean {
    const now = performance.now()
    const from = this.#faultyFrom.get(id) ?? now
    this.#faultyFrom.set(id, from)
    return now - from < this.#context.patienceMs
  }

  async #handlerOf(team: string): Promise<ErrorHandler | undefined> {
    const principal = asService('execution', team)
    try {
      return (await this.#teams.getTeam({}, ownContext(principal, askTimeoutMs))).errorHandlerConfig
    } catch (error) {
      if (error instanceof Failure && error.kind === 'not_found') return undefined
      throw error
    }
  }

  async #handle(team: string, id: string, handler: ErrorHandler): Promise<void> {
    const { pool, admission, metrics, retentionDays } = this.#context
    const run = await readFailedRun(pool, team, id)
    if (run === undefined || run.isOfHandler) return
    const { status, replayed } = await admission.accept(startRequestFor(run, handler, retentionDays))
    if (replayed) return
    metrics.errorHandlers.inc({ outcome: status === Status.REJECTED ? 'rejected' : 'started' })
  }

  /** `handler`: absent where the team's is not known. */
  async #giveUp(team: string, id: string, handler: ErrorHandler | undefined, failure: Failure): Promise<void> {
    const { pool, metrics, logger, signals } = this.#context
    const run = await readFailedRun(pool, team, id)
    if (run === undefined || run.isOfHandler) return
    const text = `${nameOf(handler)} was not started: ${failure.message}`
    if (!(await appendLineOnce(pool, team, id, [Date.now() * 1000, LogLevel.WARNING, text]))) return
    metrics.errorHandlers.inc({ outcome: 'given_up' })
    logger.warn(
      { err: failure, executionId: id, team, processSlug: handler?.processSlug, tag: handler?.tag },
      'an error handler is not started',
    )
    signals.logged.emit([id])
  }
}

function nameOf(handler: ErrorHandler | undefined): string {
  if (handler === undefined) return 'The error handler of the team'
  const { processSlug, tag } = handler
  return `The error handler ${tag === '' ? processSlug : `${processSlug} (${tag})`}`
}

/** Known by its key for as long as the failed run is kept, so that it comes once however often it is told of. */
function startRequestFor(run: FailedRun, { processSlug, tag }: ErrorHandler, retentionDays: number): StartRequest {
  return {
    team: run.team,
    identifier: processSlug,
    tag,
    origin: Origin.ERROR_HANDLER,
    parameters: failureInput(run),
    hasOwnParameters: true,
    isUnattended: true,
    createdBy: 'system',
    depth: 0,
    key: { scope: errorHandlerScope, key: run.id, keptDays: retentionDays + 1 },
  }
}

/**
 * The parameters of an error handler: JSON text of `{execution, error}`. The failed run's own are in it as they came, so
 * that no number changes.
 */
function failureInput(run: FailedRun): Uint8Array {
  const { id, comment, scheduleId, processId, processName, explanation, lastLine } = run
  const message = explanation ?? ''
  const schedule = scheduleId === null ? undefined : { id: scheduleId, comment }
  const execution = { id, comment, schedule, process: { id: processId, name: processName } }
  const error = { message, stacktrace: lastLine === undefined ? '' : (failureText(message, lastLine) ?? '') }
  const members = JSON.stringify(execution).slice(1)
  return Buffer.from(`{"execution":{"parameters":${run.parameters},${members},"error":${JSON.stringify(error)}}`)
}
