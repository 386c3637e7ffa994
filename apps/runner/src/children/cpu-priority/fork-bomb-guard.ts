import type { CpuGroups } from '@automation/jail'
import type { Child } from '../child.ts'

// Pools of workers are smaller, mostly.
const many = 30
// For the first time; each further one is twice as long.
const holdMs = 500
/** Young runs, and those that were held, are looked at so often, for so long. */
export const earlyEveryMs = 25
export const earlyUntilMs = 200

/** The run of a child that may have started many processes at once. */
interface Burst {
  run: number
  /** More of them than so many are the next burst. */
  limit: number
  holdMs: number
  held: NodeJS.Timeout | undefined
}

/**
 * A run that starts many processes at once is held for a while: the kernel's own work for them has no priority, so
 * that only their time can be bounded. Each doubling of their number is one more burst, so that a pool of workers is
 * held for once or twice, and one that starts them without end for longer and longer.
 */
export class ForkBombGuard {
  readonly #groups: CpuGroups
  readonly #bursts = new WeakMap<Child, Burst>()

  constructor(groups: CpuGroups) {
    this.#groups = groups
  }

  /** A run has so many processes now. */
  look(child: Child, processes: number): void {
    if (processes <= many) return
    const before = this.#bursts.get(child)
    const burst = before?.run === child.runs ? before : { run: child.runs, limit: many, holdMs, held: undefined }
    this.#bursts.set(child, burst)
    if (processes <= burst.limit || burst.held !== undefined || !this.#groups.hold(child.pid, true)) return
    burst.held = setTimeout(() => this.#goOn(child, burst), burst.holdMs).unref()
    burst.limit = processes * 2
    burst.holdMs *= 2
  }

  isHeld(child: Child): boolean {
    return this.#bursts.get(child)?.held !== undefined
  }

  release(child: Child): void {
    const burst = this.#bursts.get(child)
    if (burst?.held === undefined) return
    clearTimeout(burst.held)
    burst.held = undefined
    this.#groups.hold(child.pid, false)
  }

  #goOn(child: Child, burst: Burst): void {
    this.release(child)
    let looks = 0
    const again = setInterval(() => {
      looks += 1
      const isOver = looks * earlyEveryMs >= earlyUntilMs || child.runs !== burst.run || child.state !== 'running'
      if (!isOver) this.look(child, this.#groups.members(child.pid).length)
      if (isOver || this.isHeld(child)) clearInterval(again)
    }, earlyEveryMs).unref()
  }
}
