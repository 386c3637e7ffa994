import { setTimeout as delay } from 'node:timers/promises'

/** How long to wait in all, and between two looks. */
export interface Patience {
  timeoutMs: number
  everyMs?: number
}

/**
 * Asks again until there is an answer other than undefined or false, and gives it.
 * Throws after `timeoutMs`, naming what was waited for.
 */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs, everyMs = 25 }: Patience,
): Promise<T> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > end) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}`)
    await delay(everyMs)
  }
}
