interface Patience {
  /** Long enough for a slow machine: shorter ones are for what must be seen to come early. */
  timeoutMs?: number
  /** Pause between two looks; a part of what has passed, where nothing else is said. */
  everyMs?: number
  /** What is waited for, for the error; a function says it when it fails. */
  what?: string | (() => string)
}

// Each look takes of what is waited for: those who wait for long look seldom.
const pauseMs = { least: 5, most: 60 }
const pausePart = 0.15

/** Looks again and again until `look` gives something truthy, and returns that; throws with the last answer when it never does. */
export async function until<T>(look: () => T | Promise<T>, patience: Patience = {}): Promise<NonNullable<T>> {
  const { timeoutMs = 60_000, everyMs, what = 'the condition' } = patience
  for (const began = performance.now(); ;) {
    const seen = await look()
    if (seen) return seen
    const passedMs = performance.now() - began
    if (passedMs > timeoutMs) {
      const words = typeof what === 'string' ? what : what()
      throw new Error(`Not within ${timeoutMs} ms: ${words}; last seen: ${String(seen)}`)
    }
    const pause = everyMs ?? Math.min(Math.max(passedMs * pausePart, pauseMs.least), pauseMs.most)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
