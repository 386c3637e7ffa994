/** Runner pods that did not start, and what is done about it. */
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

/** What an operator is told of it; empty where nothing is wrong. */
export function pauseText({ failures, untilMs, why }: Pause, nowMs: number): string {
  if (failures === 0) return ''
  const leftS = Math.ceil((untilMs - nowMs) / 1000)
  const next = leftS > 0 ? `; the next is made in ${leftS} s` : ''
  return `${failures} in a row did not start: ${why}${next}`
}
