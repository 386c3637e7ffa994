import { setTimeout as pause } from 'node:timers/promises'
import { asFailure, type Failure } from '@automation/errors'

const firstPauseMs = 100
const longestPauseMs = 5000

/** Told of each time that a write failed for a database that is away. */
export type Delayed = (failure: Failure, nextMs: number) => void

/**
 * Makes a write that may be made twice, again and again while the database is away or too slow, with pauses that grow.
 * Throws what else fails, and the last failure once `signal` is aborted.
 */
export async function persisted<T>(write: () => Promise<T>, delayed: Delayed, signal: AbortSignal): Promise<T> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await write()
    } catch (error) {
      const failure = asFailure(error)
      if (failure.kind !== 'unavailable' || signal.aborted) throw error
      delayed(failure, pauseMs)
      await pause(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
