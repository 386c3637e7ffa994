import { setTimeout as delay } from 'node:timers/promises'

/** How long to wait in all, and between two looks: a part of what has passed, where nothing else is said. */
export interface Patience {
  timeoutMs: number
  everyMs?: number
}

// Each look costs the system a call: those who wait for long look seldom.
const pauseMs = { least: 20, most: 250 }
const pausePart = 0.15

/**
 * Asks again until there is an answer other than undefined or false, and gives it.
 * Throws after `timeoutMs`, naming what was waited for.
 */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs, everyMs }: Patience,
): Promise<T> {
  const began = performance.now()
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    const passedMs = performance.now() - began
    if (passedMs > timeoutMs) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}`)
    await delay(everyMs ?? Math.min(Math.max(passedMs * pausePart, pauseMs.least), pauseMs.most))
  }
}
