import { Status } from '@automation/contract/execution/v1/execution'
import { Failure, stopping } from '@automation/errors'
import type { Accepted } from '../accept/admission.ts'
import type { Runners } from '../dispatch/runners.ts'
import { readOfTeams, readOutcomes, readProgress } from '../store/executions.ts'
import { isTerminal } from '../status.ts'
import { visibleId } from '../store/records.ts'
import type { Queries } from '../store/connections.ts'

/** The answer to a sync caller. */
export interface SyncOutcome extends RunOutcome {
  executionId: string
  replayed: boolean
  /** Nobody waits here any more; the run goes on. */
  replicaStops?: boolean
}

/** Tells callers how runs end: by a wake-up when all goes well, by a look at the rows when one was missed. */
export class Outcomes {
  readonly #pool: Queries
  readonly #waiters: Waiters
  readonly #runners: Runners

  constructor(pool: Queries, waiters: Waiters, runners: Runners) {
    this.#pool = pool
    this.#waiters = waiters
    this.#runners = runners
  }

  /** The end of an accepted run, or where it is after `ms`. Failure already_exists result_not_kept. */
  async of(accepted: Accepted, ms: number, signal: AbortSignal): Promise<SyncOutcome> {
    const { id, replayed, waiter } = accepted
    const known = { executionId: id, replayed }
    if (waiter === undefined) return { ...known, status: accepted.status, explanation: accepted.explanation }
    try {
      const found = replayed ? (await this.look([id])).get(id) : undefined
      const outcome = found?.notKept ? found : await waiter.wait(ms, signal)
      if (outcome?.notKept) throw notKept(id)
      if (outcome !== undefined) return { ...known, ...outcome }
      if (waiter.isGivenUp) return { ...known, status: accepted.status, replicaStops: true }
      const progress = (await readProgress(this.#pool, id)) ?? { status: Status.RUNNING }
      if (!isTerminal(progress.status)) return { ...known, ...progress }
      // It has ended since: with the value, which progress has none of.
      const ended = (await readOutcomes(this.#pool, [id])).get(id)
      if (ended?.notKept) throw notKept(id)
      return { ...known, ...(ended ?? progress) }
    } finally {
      waiter.close()
    }
  }

  /**
   * The end of a run of this team that was accepted elsewhere. A transient value that came before is lost. Failures: those
   * of `of`, execution_not_found; stopping, when it has not waited.
   */
  async ofAnother(team: string, id: string, ms: number, signal: AbortSignal): Promise<SyncOutcome> {
    if (this.#waiters.abandoned) throw stopping()
    const key = await visibleId(this.#pool, team, id)
    const waiter = this.#waiters.open(key)
    return await this.of({ id: key, status: Status.CREATED, replayed: true, waiter }, ms, signal)
  }

  /** Nobody waits here any more for runs of these teams, which go on elsewhere. */
  async giveUp(teams: string[]): Promise<void> {
    if (teams.length > 0) this.#waiters.giveUp(await readOfTeams(this.#pool, this.#waiters.overdue(0), teams))
  }

  /** Answers whoever waits here for those of these runs that have ended, and ends what still runs of them; gives the ends. */
  async look(ids: string[]): Promise<Map<string, RunOutcome>> {
    const outcomes = await readOutcomes(this.#pool, ids)
    for (const [id, outcome] of outcomes) {
      this.#waiters.settle(id, outcome)
      if (!this.#runners.has(id)) continue
      this.#runners.kill(id)
      this.#runners.ended(id)
    }
    return outcomes
  }
}

function notKept(executionId: string): Failure {
  return new Failure(
    'already_exists',
    'result_not_kept',
    'The result of this execution was delivered once and not kept',
    {
      executionId,
    },
  )
}

/** How a run ended, for a caller that waits. */
export interface RunOutcome {
  status: Status
  /** JSON text; absent when it was not kept. */
  returnValue?: Uint8Array
  /** Why it failed, or why it waits. */
  explanation?: string
  /** Of the source, where the failure came out of it. */
  errorLine?: number
  /** The value is kept nowhere but here. */
  transient?: boolean
  /** The value was delivered once and not kept, and this is not that delivery. */
  notKept?: boolean
}

export interface Waiter {
  /** The outcome, or undefined when the time is over or the caller has gone. */
  wait(ms: number, signal: AbortSignal): Promise<RunOutcome | undefined>
  /** The run goes on, and whoever waits for it is to do so elsewhere. */
  readonly isGivenUp: boolean
  /** Nobody waits any more. */
  close(): void
}

interface Waiting {
  sinceMs: number
  /** A look at the record has found a value that was not kept; it may still be on its way here. */
  passedOver?: boolean
  isGivenUp: boolean
  settle(outcome: RunOutcome | undefined): void
}

/** Who waits at this replica for the end of which run. */
export class Waiters {
  readonly #waiting = new Map<string, Set<Waiting>>()
  #count = 0
  #abandoned = false

  /** Opened before the run can end, so that no end is missed. */
  open(executionId: string): Waiter {
    const { promise, resolve } = Promise.withResolvers<RunOutcome | undefined>()
    if (this.#abandoned) resolve(undefined)
    const waiting: Waiting = { sinceMs: performance.now(), isGivenUp: this.#abandoned, settle: resolve }
    const all = this.#waiting.get(executionId) ?? new Set()
    this.#waiting.set(executionId, all.add(waiting))
    this.#count += 1
    const close = () => {
      if (!all.delete(waiting)) return
      this.#count -= 1
      if (all.size === 0 && this.#waiting.get(executionId) === all) this.#waiting.delete(executionId)
    }
    return {
      wait: (ms, signal) => within(promise, ms, signal).finally(close),
      get isGivenUp() {
        return waiting.isGivenUp
      },
      close,
    }
  }

  /** Answers whoever waits here for this run; that its value was not kept is told only where it is found twice. */
  settle(executionId: string, outcome: RunOutcome): void {
    for (const waiting of this.#waiting.get(executionId) ?? []) {
      if (outcome.notKept && !waiting.passedOver) waiting.passedOver = true
      else waiting.settle(outcome)
    }
  }

  /** Whoever waits here for these runs is to do so elsewhere. */
  giveUp(executionIds: Iterable<string>): void {
    for (const id of executionIds)
      for (const waiting of this.#waiting.get(id) ?? []) {
        waiting.isGivenUp = true
        waiting.settle(undefined)
      }
  }

  /** This replica stops: whoever still waits gets to know where the run is. */
  abandon(): void {
    this.#abandoned = true
    this.giveUp(this.#waiting.keys())
  }

  get abandoned(): boolean {
    return this.#abandoned
  }

  has(executionId: string): boolean {
    return this.#waiting.has(executionId)
  }

  /** Runs that somebody has waited for longer than this. */
  overdue(ms: number): string[] {
    const limit = performance.now() - ms
    return [...this.#waiting].filter(([, all]) => [...all].some(({ sinceMs }) => sinceMs < limit)).map(([id]) => id)
  }

  get count(): number {
    return this.#count
  }
}

function within<T>(promise: Promise<T | undefined>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve) => {
    // A longer delay than 2^31-1 ms would fire at once.
    const timer = setTimeout(done, Math.min(ms, 2_147_483_647))
    const leave = () => done()
    if (signal.aborted) return done()
    signal.addEventListener('abort', leave, { once: true })
    void promise.then(done)
    function done(value?: T) {
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
      resolve(value)
    }
  })
}
