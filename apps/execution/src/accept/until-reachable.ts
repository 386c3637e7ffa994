import { isMissingPartition, type Partitions } from '../store/partitions.ts'

interface Patience {
  /** Monotonic ms after which no further attempt is made. */
  giveUpAtMs: number
  /** Whether it may go well when it is tried again. */
  repeats(error: unknown): boolean
  /** Made once where what is written has none: the clock has leapt. */
  partitions: Partitions
}

const pauseMs = 150

/** Tries until it works; throws the fault of the last attempt. */
export async function untilReachable<T>(patience: Patience, attempt: () => Promise<T>): Promise<T> {
  const { giveUpAtMs, repeats, partitions } = patience
  for (let made = false; ;) {
    try {
      return await attempt()
    } catch (error) {
      if (isMissingPartition(error) && !made) {
        made = true
        await partitions.ensure(Date.now())
        continue
      }
      if (!repeats(error) || performance.now() > giveUpAtMs) throw error
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}
