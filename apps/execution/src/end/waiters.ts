import type { Status } from '@automation/contract/execution/v1/execution'

/** How a run ended, for a caller that waits. */
export interface RunOutcome {
  status: Status
  /** JSON text; absent when it was not kept. */
  returnValue?: Uint8Array
  /** Why it failed, or why it waits. */
  explanation?: string
  /** Of the source, where the failure came out of it. */
  errorLine?: number
  /** The value was delivered once and not kept, and this is not that delivery. */
  notKept?: boolean
}

export interface Waiter {
  /** The outcome, or undefined when the time is over or the caller has gone. */
  wait(ms: number, signal: AbortSignal): Promise<RunOutcome | undefined>
  /** Nobody waits any more. */
  close(): void
}

interface Waiting {
  sinceMs: number
  /** A look at the record has found a value that was not kept; it may still be on its way here. */
  passedOver?: boolean
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
    const waiting: Waiting = { sinceMs: performance.now(), settle: resolve }
    const all = this.#waiting.get(executionId) ?? new Set()
    this.#waiting.set(executionId, all.add(waiting))
    this.#count += 1
    const close = () => {
      if (!all.delete(waiting)) return
      this.#count -= 1
      if (all.size === 0 && this.#waiting.get(executionId) === all) this.#waiting.delete(executionId)
    }
    return { wait: (ms, signal) => within(promise, ms, signal).finally(close), close }
  }

  /** Answers whoever waits here for this run; that its value was not kept is told only where it is found twice. */
  settle(executionId: string, outcome: RunOutcome): void {
    for (const waiting of this.#waiting.get(executionId) ?? []) {
      if (outcome.notKept && !waiting.passedOver) waiting.passedOver = true
      else waiting.settle(outcome)
    }
  }

  /** This replica stops: whoever still waits gets to know where the run is. */
  abandon(): void {
    this.#abandoned = true
    for (const all of this.#waiting.values()) for (const { settle } of all) settle(undefined)
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
