import { TeamService, type ErrorHandler } from '@automation/contract/catalog/v1/team'
import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import { LogLevel, Origin, Status } from '@automation/contract/execution/v1/execution'
import { asFailure, Failure, isPassing, teamMovedCode, unavailable } from '@automation/errors'
import { installsProcessId } from '@automation/contract/installs'
import { asService, ownContext, type Client, type Neighbours } from '@automation/rpc'
import { Periodic, within, type Logger } from '@automation/service'
import { LRUCache } from 'lru-cache'
import type { Admission } from '../accept/admission.ts'
import type { StartRequest } from '../accept/start-request.ts'
import type { Signals } from '../signals.ts'
import type { Metrics } from '../metrics.ts'
import { readFailedRun, type FailedRun } from '../store/failed-runs.ts'
import { failureText } from '../store/failure-words.ts'
import {
  claimErrorHandlers,
  giveUpErrorHandler,
  noteErrorHandler,
  postponeErrorHandler,
  removeErrorHandler,
  type LateErrorHandler,
} from '../store/late-error-handlers.ts'
import type { LogLine } from '../store/log-pages.ts'
import { errorHandlerScope, keptDaysOf, startGivenUpCode } from '../store/start-keys.ts'
import type { Queries } from '../store/connections.ts'

interface ErrorHandlersContext {
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
const lookMs = 500
/** At work at once: of events, and of what is late in all and of one team. */
const most = { events: 8, late: 16, ofTeam: 2 }
/** What takes longer is not waited for by the events behind it. */
const inTimeMs = 5000
/** Once something of a team is late, so is the rest for so long: it would wait for the same. */
const lateForMs = 5000
/**
 * What a claim took whose answer was lost waits for so long. A try may take longer: a second one does no harm, as the run
 * has a key.
 */
const leaseMs = 15_000

type HandlerOf = (team: string) => Promise<ErrorHandler | undefined>

/**
 * Runs the process that a team has for it after each of its runs that ends in ERROR: once for each. What can't be started
 * yet is noted as late and tried again apart, so that nothing of one team keeps the events of others.
 */
export class ErrorHandlers {
  readonly #context: ErrorHandlersContext
  readonly #teams: Client<typeof TeamService>
  readonly #look: Periodic
  readonly #stop = new AbortController()
  /** Teams of which something was late just now. */
  readonly #lateTeams = new LRUCache<string, true>({ max: 10_000, ttl: lateForMs })
  /** What is late and tried now, with its team. */
  readonly #atWork = new Map<Promise<void>, string>()

  constructor(context: ErrorHandlersContext) {
    this.#context = context
    this.#teams = context.neighbours.client(TeamService)
    this.#look = new Periodic('late error handlers', lookMs, context.logger, () => this.#lookForLate())
  }

  start(): void {
    this.#look.start()
  }

  /** What is at work goes on; what it can't do is late. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#look.stop()
    await Promise.all(this.#atWork.keys())
  }

  /** Consumes lifecycle events. Fails where not even that they are late can be noted: then the same ones come again. */
  async take(events: ExecutionEvent[], signal: AbortSignal): Promise<void> {
    const failures = events.filter(
      ({ status, processId }) => status === Status.ERROR && processId !== installsProcessId,
    )
    // Asked once for each batch: what a team changes counts from the next one on.
    const handlers = new Map<string, Promise<ErrorHandler | undefined>>()
    const handlerOf = (team: string) => handlers.get(team) ?? handlers.set(team, this.#handlerOf(team)).get(team)!
    const open = failures.values()
    const work = async () => {
      for (const { team, executionId: id } of open) {
        if (signal.aborted) return
        const isLate = this.#lateTeams.has(team)
        const fault = isLate ? late() : await within(inTimeMs, this.#attempt(team, id, handlerOf), late)
        if (fault === undefined) continue
        if (!isLate) this.#lateTeams.set(team, true)
        await this.#note(team, id, fault)
      }
    }
    const done = await Promise.allSettled(Array.from({ length: most.events }, work))
    signal.throwIfAborted()
    for (const each of done) if (each.status === 'rejected') throw each.reason
  }

  async #note(team: string, id: string, fault: unknown): Promise<void> {
    // All of these events were told before a team leaves: what comes now came again.
    if (asFailure(fault).code === teamMovedCode) return
    await noteErrorHandler(this.#context.pool, team, id, isPassing(fault))
  }

  async #lookForLate(): Promise<void> {
    if (this.#stop.signal.aborted || this.#atWork.size >= most.late) return
    const teams = Map.groupBy(this.#atWork.values(), (team) => team)
    const found = await claimErrorHandlers(this.#context.pool, {
      limit: most.late - this.#atWork.size,
      perTeam: most.ofTeam,
      busyTeams: [...teams].filter(([, some]) => some.length >= most.ofTeam).map(([team]) => team),
      leaseMs,
    })
    for (const one of found) {
      const done = this.#tryAgain(one).finally(() => {
        this.#atWork.delete(done)
        if (!this.#stop.signal.aborted) this.#look.soon()
      })
      this.#atWork.set(done, one.team)
    }
  }

  async #tryAgain({ id, team, faultyMs }: LateErrorHandler): Promise<void> {
    const { pool, logger } = this.#context
    try {
      const fault = await this.#attempt(team, id, (of) => this.#handlerOf(of), faultyMs)
      if (fault === undefined) await removeErrorHandler(pool, id)
      else await postponeErrorHandler(pool, id, isPassing(fault))
    } catch (error) {
      // The row stays as it is, and is due again after its lease.
      logger.warn({ err: error, executionId: id, team }, 'an error handler could not be tried again')
    }
  }

  /** Gives the fault for which it is to be tried again. `faultyMs`: for how long it has been one. */
  async #attempt(team: string, id: string, handlerOf: HandlerOf, faultyMs = 0): Promise<unknown> {
    let handler: ErrorHandler | undefined
    try {
      handler = await handlerOf(team)
      if (handler !== undefined) await this.#handle(team, id, handler)
    } catch (error) {
      const failure = asFailure(error)
      // Its event has come again.
      if (failure.code === startGivenUpCode) return undefined
      const isLasting = failure.kind === 'not_found' || failure.code === 'team_suspended'
      if (!isLasting && (isPassing(error) || faultyMs < this.#context.patienceMs)) return error
      return this.#giveUp(team, id, handler, failure).catch((fault: unknown) => {
        if (isPassing(fault)) return fault
        this.#context.logger.error({ err: fault, executionId: id, team }, 'an error handler is passed over')
      })
    }
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
    const { pool, metrics, logger, signals, retentionDays } = this.#context
    const run = await readFailedRun(pool, team, id)
    if (run === undefined || run.isOfHandler) return
    const line: LogLine = [
      Date.now() * 1000,
      LogLevel.WARNING,
      `${nameOf(handler)} was not started: ${failure.message}`,
    ]
    if (!(await giveUpErrorHandler(pool, team, { id, keptDays: keptDaysOf(retentionDays), line }))) return
    metrics.errorHandlers.inc({ outcome: 'given_up' })
    logger.warn(
      { err: failure, executionId: id, team, processSlug: handler?.processSlug, tag: handler?.tag },
      'an error handler is not started',
    )
    signals.logged.emit([id])
  }
}

function late(): Failure {
  return unavailable('The error handlers of the team are late')
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
    key: { scope: errorHandlerScope, key: run.id, keptDays: keptDaysOf(retentionDays) },
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
