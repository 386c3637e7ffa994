import { setTimeout as pause } from 'node:timers/promises'
import { asFailure, type Failure } from '@automation/errors'

const firstPauseMs = 100
const longestPauseMs = 5000

/** Told of each time that it failed for a part that is away. */
export type Delayed = (failure: Failure, nextMs: number) => void

/**
 * Does what may be done twice, again and again while the part that it needs is away or too slow, with pauses that grow.
 * Throws what else fails, and the last failure once `signal` is aborted.
 */
export async function persisted<T>(work: () => Promise<T>, delayed: Delayed, signal: AbortSignal): Promise<T> {
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
