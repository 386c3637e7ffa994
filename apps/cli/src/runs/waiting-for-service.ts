import { setTimeout as pause } from 'node:timers/promises'

const pauseMs = 1000
const statusesAway = new Set([502, 503, 504])

/** Whether a failure says that the service is not there, and nothing of what was asked. */
export async function isAway(error: unknown): Promise<boolean> {
  const { ApiError, ConnectionError } = await import('@automation/client')
  return error instanceof ConnectionError || (error instanceof ApiError && statusesAway.has(error.status))
}

interface Waiting {
  /** It has answered already; else work that never reaches it fails. */
  wasReached: boolean
  /** Is told of each absence once. */
  onAway: () => void
}

/** Does work to its end, again and again while the service is away. `work` calls `reached` when it has an answer. */
export async function waitingForService(
  work: (reached: () => void) => Promise<void>,
  { wasReached, onAway }: Waiting,
): Promise<void> {
  let isThere = wasReached
  let isTold = false
  const reached = () => {
    isThere = true
    isTold = false
  }
  for (;;)
    try {
      return await work(reached)
    } catch (error) {
      if (!isThere || !(await isAway(error))) throw error
      if (!isTold) onAway()
      isTold = true
      await pause(pauseMs)
    }
}
