import { stopping } from '@automation/errors'
import type { Logger } from '@automation/service'
import type { Admission } from '../accept/admission.ts'
import type { StartRequest } from '../accept/start-request.ts'
import type { Nesting } from './nesting.ts'
import type { Runners } from './runners.ts'
import type { Outcomes, SyncOutcome } from '../end/waiters.ts'
import type { RunRights } from '@automation/rpc/run-token'
import type { RunLimits } from '../run-limits.ts'
import type { Signals } from '../signals.ts'
import { releaseSlot, resumeSlot } from '../store/run-slots.ts'
import type { Queries } from '../store/connections.ts'

interface Resuming {
  id: string
  team: string
  resolve(): void
}

/** Those of one team that want their slots again, in the order in which they came. */
interface Line {
  waiting: Set<Resuming>
  /** Somebody looks after this line now; `again` when there is news meanwhile. */
  looking: boolean
  again: boolean
}

export interface NestedRunsContext {
  pool: Queries
  admission: Admission
  outcomes: Outcomes
  runners: Runners
  limits: RunLimits
  nesting: Nesting
  logger: Logger
  signals: Signals
}

/** Runs that wait for runs: while one waits, its slot is its team's, and it comes before new runs when it goes on. */
export class NestedRuns {
  readonly #context: NestedRunsContext
  readonly #lines = new Map<string, Line>()
  /** Calls that a run waits for, by its id. */
  readonly #waiting = new Map<string, number>()
  /** Runs that want their slots again, by their ids; who waits for another run meanwhile is taken out. */
  readonly #resuming = new Map<string, Resuming>()
  /** The last statement about the slot of a run, by its id: one follows the other. */
  readonly #statements = new Map<string, Promise<unknown>>()

  constructor(context: NestedRunsContext) {
    this.#context = context
  }

  /**
   * Starts a run and waits for its end, at most as long as the calling run may go on. Failures: those of the admission;
   * stopping, also when it has been started: the same call elsewhere is the same run.
   */
  async run(request: StartRequest, rights: RunRights, signal: AbortSignal): Promise<SyncOutcome> {
    const { admission, outcomes } = this.#context
    let outcome: SyncOutcome | undefined
    let isReleased = false
    const release = async () => {
      if (isReleased) return
      isReleased = true
      await this.#release(rights)
    }
    try {
      // Not before: what is refused need not wait for its slot again.
      const accepted = await admission.accept(request, { beforeStart: release })
      await release()
      outcome = await outcomes.of(accepted, Math.max(rights.exp * 1000 - Date.now(), 0), signal)
    } finally {
      if (isReleased && this.#isLastCall(rights)) {
        // Where the replica stops, it goes on from another one.
        if (outcome?.replicaStops === true) this.#waitsNoMore(rights)
        else await this.#resume(rights, signal)
      }
    }
    if (outcome.replicaStops) throw stopping()
    return outcome
  }

  /** A slot of this team came free. */
  slotFreed(team: string): void {
    const line = this.#lines.get(team)
    if (line !== undefined) void this.#move(team, line)
  }

  /** Slots may have come free: those that want theirs again take them first. */
  async resumeAll(): Promise<void> {
    for (const [team, line] of this.#lines) await this.#move(team, line)
  }

  /** Lets go on who may, from the front of the line. */
  async #move(team: string, line: Line): Promise<void> {
    line.again = true
    if (line.looking) return
    line.looking = true
    while (line.again) {
      line.again = false
      for (const resuming of line.waiting) if (!(await this.#try(resuming, line))) break
    }
    line.looking = false
    // A line goes here only: whoever holds one finds it in the map as long as it waits there.
    if (line.waiting.size === 0 && this.#lines.get(team) === line) this.#lines.delete(team)
  }

  async #release({ executionId, team, depth }: RunRights): Promise<void> {
    const { pool, runners, nesting, signals } = this.#context
    const calls = (this.#waiting.get(executionId) ?? 0) + 1
    this.#waiting.set(executionId, calls)
    if (calls > 1) return
    const resuming = this.#resuming.get(executionId)
    if (resuming !== undefined) {
      this.#resuming.delete(executionId)
      this.#lines.get(team)?.waiting.delete(resuming)
      resuming.resolve()
    } else nesting.wait(team, depth, 1)
    runners.waits(executionId, true)
    if (await this.#afterOthers(executionId, () => releaseSlot(pool, executionId))) signals.slotFreed.emit(team)
  }

  /** The last call of a run is over: it wants its slot again. */
  async #resume(rights: RunRights, signal: AbortSignal): Promise<void> {
    const { executionId: id, team } = rights
    if (signal.aborted) {
      this.#waitsNoMore(rights)
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const resuming = { id, team, resolve }
    this.#resuming.set(id, resuming)
    const line = this.#lines.get(team) ?? { waiting: new Set(), looking: false, again: false }
    this.#lines.set(team, line)
    line.waiting.add(resuming)
    // Also notes for all replicas that the slot is wanted, before any new run.
    if (!(await this.#try(resuming, line))) {
      signal.addEventListener('abort', () => resolve(), { once: true })
      if (!signal.aborted) await promise
    }
    line.waiting.delete(resuming)
    if (this.#resuming.get(id) !== resuming) return
    this.#resuming.delete(id)
    this.#context.runners.waits(id, false)
    this.#waitsNoMore(rights)
  }

  /** A call is over; whether its run waits for no other now. */
  #isLastCall({ executionId }: RunRights): boolean {
    const calls = (this.#waiting.get(executionId) ?? 1) - 1
    if (calls > 0) this.#waiting.set(executionId, calls)
    else this.#waiting.delete(executionId)
    return calls <= 0
  }

  /** Others of its team may begin for it. */
  #waitsNoMore({ team, depth }: RunRights): void {
    const { nesting, signals } = this.#context
    const before = nesting.leastDepth(team)
    nesting.wait(team, depth, -1)
    if (nesting.leastDepth(team) < before) signals.slotFreed.emit(team)
  }

  /** Whether the run need not wait: it has its slot, it has ended, or it waits for another run. */
  async #try(resuming: Resuming, line: Line): Promise<boolean> {
    const { pool, limits, signals } = this.#context
    const { id, team } = resuming
    const resumption = await this.#afterOthers(id, () =>
      this.#resuming.get(id) === resuming
        ? resumeSlot(pool, id, limits.running(team))
        : Promise.resolve('ended' as const),
    )
    if (resumption === 'waits') signals.slotAwaited.emit({ team, to: 'go on' })
    if (resumption === undefined || resumption === 'waits') return false
    line.waiting.delete(resuming)
    resuming.resolve()
    return true
  }

  /** Else one that began earlier could be done later. */
  async #afterOthers<T>(id: string, statement: () => Promise<T>): Promise<T | undefined> {
    const work = (this.#statements.get(id) ?? Promise.resolve()).then(() => this.#tried(statement))
    this.#statements.set(id, work)
    try {
      return await work
    } finally {
      if (this.#statements.get(id) === work) this.#statements.delete(id)
    }
  }

  /** While the database is away, the next look tries again. */
  async #tried<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      this.#context.logger.warn({ err: error }, 'a slot could not be changed yet')
      return undefined
    }
  }
}
