import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import { Failure } from '@automation/errors'
import type { Logger } from '@automation/service'
import type { Backlog } from './backlog.ts'
import type { ForcedEnds } from '../end/forced-ends.ts'
import { awaitsPackages, type Specs } from '../accept/specs.ts'
import type { Signals } from '../signals.ts'
import {
  heldBatch,
  queueReleased,
  readHeld,
  readHeldProcesses,
  releaseHeld,
  type HeldProcess,
} from '../store/held-runs.ts'
import type { Queries } from '../store/connections.ts'

export interface HeldRunsContext {
  pool: Queries
  specs: Specs
  forced: ForcedEnds
  backlog: Backlog
  logger: Logger
  signals: Signals
}

/** So long a run whose packages are there may wait for a slot and is CREATED still. */
const patienceMs = 3000
/** Teams without an answer after which no other is asked for in a look. */
const mostAway = 3

/** Runs that wait for packages, as CREATED: they go on when these are installed, and end when they can't be. */
export class HeldRuns {
  readonly #context: HeldRunsContext
  /** Behind which the next look goes on, where one was too little for all. */
  #after: HeldProcess | undefined

  constructor(context: HeldRunsContext) {
    this.#context = context
  }

  /** One look at all of them. Any number of replicas may do so at the same time. */
  async look(): Promise<void> {
    const { pool, logger, signals } = this.#context
    const processes = await readHeldProcesses(pool, this.#after)
    this.#after = processes.length === heldBatch ? processes.at(-1) : undefined
    const away = new Set<string>()
    for (const process of processes) {
      if (away.has(process.team)) continue
      try {
        await this.#lookAt(process)
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        if (error.kind === 'unavailable') away.add(process.team)
        else logger.warn({ err: error, ...process }, 'runs go on waiting for their packages')
        // Not one of them: the catalog is.
        if (away.size === mostAway) throw error
      }
    }
    const late = await queueReleased(pool, patienceMs)
    if (late.length > 0) signals.changed.emit(late)
  }

  async #lookAt(process: HeldProcess): Promise<void> {
    const spec = await this.#specOf(process)
    if (spec !== undefined && awaitsPackages(spec)) return
    const fault = spec?.dependenciesError
    if (fault === undefined) await this.#release(process)
    else await this.#fail(process, `The packages of the process could not be installed: ${fault}`)
  }

  /** Undefined where the process is gone: its runs find out where all do. */
  async #specOf({ team, processId, versionId }: HeldProcess): Promise<RunSpec | undefined> {
    try {
      return await this.#context.specs.resolveAgain({ team, identifier: processId, tag: versionId ?? '' })
    } catch (error) {
      if (error instanceof Failure && error.kind === 'not_found') return undefined
      throw error
    }
  }

  async #release(process: HeldProcess): Promise<void> {
    const { pool, backlog, signals } = this.#context
    for (let count = heldBatch; count === heldBatch;) {
      const released = await releaseHeld(pool, process)
      count = released.length
      const kinds = new Map(released.map((run) => [`${run.language} ${run.pool}`, run]))
      for (const { pool: runnerPool, language } of kinds.values()) {
        backlog.queued(runnerPool, process.team, language)
        signals.queued.emit({ pool: runnerPool, team: process.team, spec: { language } })
      }
    }
  }

  async #fail(process: HeldProcess, explanation: string): Promise<void> {
    const { pool, forced } = this.#context
    for (let ids = await readHeld(pool, process); ids.length > 0;) {
      await forced.failWaiting(ids, explanation)
      ids = ids.length === heldBatch ? await readHeld(pool, process) : []
    }
  }
}
