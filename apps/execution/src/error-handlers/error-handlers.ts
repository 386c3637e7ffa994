import { TeamService, type ErrorHandler } from '@automation/contract/catalog/v1/team'
import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import { LogLevel, Status } from '@automation/contract/execution/v1/execution'
import { databaseFailure } from '@automation/database'
import { Failure } from '@automation/errors'
import { installsProcessId, ownContext, type Client, type Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'
import type pg from 'pg'
import type { Admission, Wish } from '../admission.ts'
import type { Metrics } from '../metrics.ts'
import { readFailedRun, type FailedRun } from '../store/failed-runs.ts'
import { appendLineOnce } from '../store/log-pages.ts'
import { errorHandlerScope } from '../store/start-keys.ts'
import { failureInput } from './failure-input.ts'

export interface ErrorHandlersContext {
  pool: pg.Pool
  neighbours: Neighbours
  admission: Admission
  retentionDays: number
  metrics: Metrics
  logger: Logger
  /** There is something new in the log of this run. */
  watched(id: string): void
}

const askTimeoutMs = 3000
const atOnce = 8

/** Runs the process that a team has for it after each of its runs that ends in ERROR: once for each. */
export class ErrorHandlers {
  readonly #context: ErrorHandlersContext
  readonly #teams: Client<typeof TeamService>

  constructor(context: ErrorHandlersContext) {
    this.#context = context
    this.#teams = context.neighbours.client(TeamService)
  }

  /** Consumes lifecycle events. Fails where something that it needs is away: then the same ones come again. */
  async take(events: ExecutionEvent[], signal: AbortSignal): Promise<void> {
    const failures = events.filter(
      ({ status, processId }) => status === Status.ERROR && processId !== installsProcessId,
    )
    // Asked once for each batch: what a team changes counts from the next one on.
    const handlers = new Map<string, Promise<ErrorHandler | undefined>>()
    const handlerOf = (team: string) => handlers.get(team) ?? handlers.set(team, this.#handlerOf(team)).get(team)!
    const open = failures.values()
    let failed = false
    const work = async () => {
      for (const { team, executionId } of open) {
        if (failed || signal.aborted) return
        try {
          const handler = await handlerOf(team)
          if (handler !== undefined) await this.#handle(team, executionId, handler)
        } catch (error) {
          failed = isPassing(error)
          if (failed) throw error
          this.#context.logger.error({ err: error, executionId, team }, 'an error handler is passed over')
        }
      }
    }
    const results = await Promise.allSettled(Array.from({ length: atOnce }, work))
    for (const result of results) if (result.status === 'rejected') throw result.reason
    signal.throwIfAborted()
  }

  async #handlerOf(team: string): Promise<ErrorHandler | undefined> {
    const principal = { role: 'service', team, subject: 'execution', name: 'execution' } as const
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
    try {
      const { status, replayed } = await admission.accept(wishFor(run, handler, retentionDays))
      if (replayed) return
      metrics.errorHandlers.inc({ outcome: status === Status.REJECTED ? 'rejected' : 'started' })
    } catch (error) {
      if (isPassing(error)) throw error
      await this.#giveUp(run, handler, databaseFailure(error))
    }
  }

  async #giveUp({ id, team }: FailedRun, { processSlug, tag }: ErrorHandler, failure: Failure): Promise<void> {
    const { pool, metrics, logger, watched } = this.#context
    const name = tag === '' ? processSlug : `${processSlug} (${tag})`
    const text = `The error handler ${name} was not started: ${failure.message}`
    if (!(await appendLineOnce(pool, team, id, [Date.now() * 1000, LogLevel.WARNING, text]))) return
    metrics.errorHandlers.inc({ outcome: 'given_up' })
    logger.warn({ err: failure, executionId: id, team, processSlug, tag }, 'an error handler is not started')
    watched(id)
  }
}

/** Whether it may go well when it is tried again. */
function isPassing(error: unknown): boolean {
  const { kind } = databaseFailure(error)
  return kind === 'unavailable' || kind === 'deadline_exceeded'
}

/** Known by its key for as long as the failed run is kept, so that it comes once however often it is told of. */
function wishFor(run: FailedRun, { processSlug, tag }: ErrorHandler, retentionDays: number): Wish {
  return {
    team: run.team,
    identifier: processSlug,
    tag,
    parameters: failureInput(run),
    hasOwnParameters: true,
    isUnattended: true,
    createdBy: 'system',
    depth: 0,
    key: { scope: errorHandlerScope, key: run.id, keptDays: retentionDays + 1 },
  }
}
