interface Patience {
  /** Long enough for a slow machine: shorter ones are for what must be seen to come early. */
  timeoutMs?: number
  /** Pause between two looks. */
  everyMs?: number
  /** What is waited for, for the error; a function says it when it fails. */
  what?: string | (() => string)
}

/** Looks again and again until `look` gives something truthy, and returns that; throws with the last answer when it never does. */
export async function until<T>(look: () => T | Promise<T>, patience: Patience = {}): Promise<NonNullable<T>> {
  const { timeoutMs = 20_000, everyMs = 10, what = 'the condition' } = patience
  for (const end = performance.now() + timeoutMs; ;) {
    const seen = await look()
    if (seen) return seen
    if (performance.now() > end) {
      const words = typeof what === 'string' ? what : what()
      throw new Error(`Not within ${timeoutMs} ms: ${words}; last seen: ${String(seen)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
