import type { Logger } from '@automation/service'
import { whilePatient } from './patience.ts'
import type { Assignment, Runners } from './runners.ts'
import type { Sessions } from './sessions.ts'

export interface AssignmentsContext {
  runners: Runners
  sessions: Sessions
  logger: Logger
}

/**
 * Assigns runs to runners. The first one that goes to a runner pod waits until it is noted that the pod is its team's: of
 * several replicas that would give the pod runs of different teams, one does.
 */
export class Assignments {
  readonly #context: AssignmentsContext
  readonly #waiting = new Set<Promise<boolean>>()

  constructor(context: AssignmentsContext) {
    this.#context = context
  }

  /** Whether it is assigned, as `Runners.assign` says it: at once, but for the first run of a pod here. */
  assign(run: Assignment): boolean | Promise<boolean> {
    const { runners } = this.#context
    if (runners.isBoundTo(run)) return runners.assign(run)
    const given = this.#onceBound(run).finally(() => this.#waiting.delete(given))
    this.#waiting.add(given)
    return given
  }

  /** Returns when none waits. */
  async idle(): Promise<void> {
    while (this.#waiting.size > 0) await Promise.all(this.#waiting)
  }

  /** Where it can't be noted, the run is left to the lease: its runner does not name it. */
  async #onceBound(run: Assignment): Promise<boolean> {
    const { runners, sessions, logger } = this.#context
    const { id, slot, team } = run
    try {
      // A new stream of the session may have come meanwhile, which does not know of it.
      while (!runners.isBoundTo(run))
        if (!(await whilePatient(() => sessions.bindPod(slot.sessionId, team, runners)))) return false
      return runners.assign(run)
    } catch (error) {
      // Whether it was noted is not known: the runner comes again, and then the row says whose it is.
      runners.drop(slot.sessionId, error as Error)
      logger.warn({ err: error, executionId: id }, 'a run did not go to its runner pod: whose that is was not noted')
      return false
    }
  }
}
