import type { Logger } from '@automation/service'
import type pg from 'pg'
import type { Admission, Wish } from './admission.ts'
import type { Runners } from './dispatch/runners.ts'
import type { Outcomes, SyncOutcome } from './outcomes.ts'
import type { RunRights } from './run-token.ts'
import { releaseSlot, resumeSlot } from './store/run-slots.ts'

interface Resuming {
  id: string
  resolve(): void
}

export interface NestedRunsContext {
  pool: pg.Pool
  admission: Admission
  outcomes: Outcomes
  runners: Runners
  maxRunning: number
  logger: Logger
  /** A slot of this team came free. */
  freed(team: string): void
}

/** Runs that wait for runs: while one waits, its slot is its team's, and it comes before new runs when it goes on. */
export class NestedRuns {
  readonly #context: NestedRunsContext
  readonly #resuming = new Map<string, Resuming>()
  /** Calls that a run waits for, by its id. */
  readonly #waiting = new Map<string, number>()

  constructor(context: NestedRunsContext) {
    this.#context = context
  }

  /** Starts a run and waits for its end, at most as long as the calling run may go on. */
  async run(wish: Wish, rights: RunRights, signal: AbortSignal): Promise<SyncOutcome> {
    const { admission, outcomes } = this.#context
    await this.#release(rights)
    try {
      const accepted = await admission.accept(wish, true)
      return await outcomes.of(accepted, Math.max(rights.exp * 1000 - Date.now(), 0), signal)
    } finally {
      await this.#resume(rights, signal)
    }
  }

  /** A slot came free; whether it is of a team that waits for one, the next try tells. */
  slotFreed(): void {
    if (this.#resuming.size > 0) void this.resumeAll()
  }

  /** Slots may have come free: those that want theirs again take them first. */
  async resumeAll(): Promise<void> {
    for (const resuming of [...this.#resuming.values()]) await this.#try(resuming)
  }

  async #release({ executionId, team }: RunRights): Promise<void> {
    const { pool, runners, freed } = this.#context
    const calls = (this.#waiting.get(executionId) ?? 0) + 1
    this.#waiting.set(executionId, calls)
    if (calls > 1) return
    runners.waits(executionId, true)
    if (await this.#tried(() => releaseSlot(pool, executionId))) freed(team)
  }

  /** With the end of its last call: a run that still waits for others holds up none of its team. */
  async #resume({ executionId: id }: RunRights, signal: AbortSignal): Promise<void> {
    const calls = (this.#waiting.get(id) ?? 1) - 1
    if (calls > 0) {
      this.#waiting.set(id, calls)
      return
    }
    this.#waiting.delete(id)
    if (signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const resuming = { id, resolve }
    this.#resuming.set(id, resuming)
    if (!(await this.#try(resuming))) {
      signal.addEventListener('abort', () => resolve(), { once: true })
      if (!signal.aborted) await promise
    }
    this.#resuming.delete(id)
    this.#context.runners.waits(id, false)
  }

  /** Whether the run need not wait: it has its slot, or it has ended. */
  async #try({ id, resolve }: Resuming): Promise<boolean> {
    const { pool, maxRunning } = this.#context
    const resumption = await this.#tried(() => resumeSlot(pool, id, maxRunning))
    if (resumption === undefined || resumption === 'waits') return false
    resolve()
    return true
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
