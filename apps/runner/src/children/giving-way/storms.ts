import type { CpuGroups } from '@automation/jail'
import type { Child } from '../child.ts'

// Pools of workers are smaller, mostly.
const many = 30
// For the first time; each further one is twice as long.
const holdMs = 500
const lookEveryMs = 25
const looksAfterwards = 8

/** The run of a child that may have started many processes at once. */
interface Storm {
  run: number
  /** More of them than so many are the next storm. */
  limit: number
  holdMs: number
  held: NodeJS.Timeout | undefined
}

/**
 * A run that starts many processes at once is held for a while: the kernel's own work for them gives way to nobody, so
 * that only their time can be bounded. Each doubling of their number is one more storm, so that a pool of workers is
 * held for once or twice, and one that starts them without end for longer and longer.
 */
export class Storms {
  readonly #groups: CpuGroups
  readonly #storms = new WeakMap<Child, Storm>()

  constructor(groups: CpuGroups) {
    this.#groups = groups
  }

  /** A run has so many processes now. */
  look(child: Child, processes: number): void {
    if (processes <= many) return
    const before = this.#storms.get(child)
    const storm = before?.run === child.runs ? before : { run: child.runs, limit: many, holdMs, held: undefined }
    this.#storms.set(child, storm)
    if (processes <= storm.limit || storm.held !== undefined || !this.#groups.hold(child.pid, true)) return
    storm.held = setTimeout(() => this.#goOn(child, storm), storm.holdMs).unref()
    storm.limit = processes * 2
    storm.holdMs *= 2
  }

  isHeld(child: Child): boolean {
    return this.#storms.get(child)?.held !== undefined
  }

  release(child: Child): void {
    const storm = this.#storms.get(child)
    if (storm?.held === undefined) return
    clearTimeout(storm.held)
    storm.held = undefined
    this.#groups.hold(child.pid, false)
  }

  #goOn(child: Child, storm: Storm): void {
    this.release(child)
    let looks = 0
    const again = setInterval(() => {
      looks += 1
      const isOver = looks === looksAfterwards || child.runs !== storm.run || child.state !== 'running'
      if (!isOver) this.look(child, this.#groups.members(child.pid).length)
      if (isOver || this.isHeld(child)) clearInterval(again)
    }, lookEveryMs).unref()
  }
}
