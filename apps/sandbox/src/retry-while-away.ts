import { setTimeout as pause } from 'node:timers/promises'
import { asFailure, type Failure } from '@automation/errors'

const firstPauseMs = 100
const longestPauseMs = 5000

/** Called each time that the work failed because a part is away. */
type Delayed = (failure: Failure, nextMs: number) => void

/**
 * Repeats work that may be done twice while the part that it needs is away or too slow, with growing pauses. Any other
 * failure is thrown, and so is the last one once `signal` is aborted.
 */
export async function retryWhileAway<T>(work: () => Promise<T>, delayed: Delayed, signal: AbortSignal): Promise<T> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await work()
    } catch (error) {
      const failure = asFailure(error)
      if (failure.kind !== 'unavailable' || signal.aborted) throw error
      delayed(failure, pauseMs)
      await pause(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
