export interface Pause {
  /** Pods in a row that ended, or were given up, before execution knew their runner. */
  failures: number
  /** Nothing is made before this time, in ms since 1970. */
  untilMs: number
  /** What the last one said. */
  why: string
}

export const noPause: Pause = { failures: 0, untilMs: 0, why: '' }

const firstMs = 2000
const longestMs = 300_000

/** After one more failure: each pause is twice as long as the one before. Those that fail together count once. */
export function longerPause(pause: Pause, why: string, nowMs: number): Pause {
  if (nowMs < pause.untilMs) return { ...pause, why }
  const failures = pause.failures + 1
  return { failures, untilMs: nowMs + Math.min(longestMs, firstMs * 2 ** (failures - 1)), why }
}
