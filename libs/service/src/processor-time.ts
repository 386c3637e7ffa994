import type { Worker } from 'node:worker_threads'

/** Who waits instead of working is late after so many times the limit. */
const patience = 30

/**
 * Calls `late` once when a thread has worked for `limitMs` from now on, until `end` is called. It is the thread's own
 * processor time that counts, so that on a busy machine nothing is late because others were quicker; one that only
 * waits is late after thirty times as long.
 */
export function watchProcessorTime(worker: Worker, limitMs: number, late: () => void): { end(): void } {
  const startedMs = performance.now()
  const before = worker.cpuUsage()
  before.catch(() => undefined) // the thread has ended, which its exit tells
  let over = false
  let timer = setTimeout(look, limitMs)
  return {
    end: () => {
      over = true
      clearTimeout(timer)
    },
  }

  function look(): void {
    usedMs().then(judge, () => undefined) // the thread has ended, which its exit tells
  }

  async function usedMs(): Promise<number> {
    const { user, system } = await worker.cpuUsage(await before)
    return (user + system) / 1000
  }

  function judge(used: number): void {
    if (over) return
    if (used >= limitMs || performance.now() - startedMs > limitMs * patience) late()
    else timer = setTimeout(look, limitMs - used)
  }
}
