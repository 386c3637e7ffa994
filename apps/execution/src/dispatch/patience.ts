import { isConnectionFailure } from '@automation/database'
import { isPassing } from '@automation/errors'

const patienceMs = 10_000
const pauseMs = 200

/** Asks for what a claimed run needs until there is an answer, or the patience is over: what is away may come back. */
export async function whilePatient<T>(ask: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + patienceMs; ;) {
    try {
      return await ask()
    } catch (error) {
      if (!passes(error) || performance.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

/** Whether what is asked for is only away, and may come back. */
export function passes(error: unknown): boolean {
  return isConnectionFailure(error) || isPassing(error)
}
