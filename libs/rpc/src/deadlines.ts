import { expired } from './call-ends.ts'
import type { CallContext, Principal } from './context.ts'

/** How long a unary call may take that says nothing else. */
export const defaultTimeoutMs = 10_000

const tickMs = 50

/**
 * Ends calls at their deadlines, up to 50 ms late, with one timer for all of them: a timer for each would cost more
 * than the call itself.
 */
class DeadlineWatch {
  readonly #byTick = new Map<number, Set<TimedCall>>()
  #timer: NodeJS.Timeout | undefined

  add(call: TimedCall): void {
    const tick = tickOf(call)
    const others = this.#byTick.get(tick)
    if (others !== undefined) others.add(call)
    else this.#byTick.set(tick, new Set([call]))
    this.#timer ??= setInterval(() => this.#sweep(), tickMs).unref()
  }

  delete(call: TimedCall): void {
    this.#byTick.get(tickOf(call))?.delete(call)
  }

  #sweep(): void {
    const now = Date.now() / tickMs
    for (const [tick, calls] of this.#byTick) {
      if (tick > now) continue
      this.#byTick.delete(tick)
      for (const call of calls) call.expire()
    }
    if (this.#byTick.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

function tickOf(call: TimedCall): number {
  return Math.ceil(call.deadlineMs / tickMs)
}

const watch = new DeadlineWatch()

/**
 * One unary call in process, and the context that its handler gets: with a deadline, and with a signal that is only made
 * when the handler looks at it. `within` gives the handler's result, or throws when the deadline comes first.
 *
 * A class and no object literal: a getter in a literal makes a hidden class for each object, which keeps the object alive
 * until the next full collection.
 */
export class TimedCall implements CallContext {
  readonly principal: Principal
  readonly requestId: string
  readonly traceparent: string | undefined
  readonly deadlineMs: number
  readonly #caller: CallContext
  #controller: AbortController | undefined
  #callerLeft: (() => void) | undefined
  #reject: ((reason: unknown) => void) | undefined

  constructor(caller: CallContext) {
    const now = Date.now()
    this.deadlineMs = caller.deadlineMs ?? now + defaultTimeoutMs
    if (now >= this.deadlineMs) throw expired()
    this.principal = caller.principal
    this.requestId = caller.requestId
    this.traceparent = caller.traceparent
    this.#caller = caller
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const own = (this.#controller = new AbortController())
      const { signal } = this.#caller
      this.#callerLeft = () => own.abort(signal.reason)
      if (Date.now() >= this.deadlineMs) own.abort(expired())
      else if (signal.aborted) this.#callerLeft()
      else signal.addEventListener('abort', this.#callerLeft, { once: true })
    }
    return this.#controller.signal
  }

  within<T>(result: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      watch.add(this)
      result.then(
        (value) => {
          this.#over()
          resolve(value)
        },
        (error: unknown) => {
          this.#over()
          reject(error as Error)
        },
      )
    })
  }

  #over(): void {
    watch.delete(this)
    if (this.#callerLeft !== undefined) this.#caller.signal.removeEventListener('abort', this.#callerLeft)
  }

  expire(): void {
    const failure = expired()
    this.#reject?.(failure)
    this.#controller?.abort(failure)
  }
}
