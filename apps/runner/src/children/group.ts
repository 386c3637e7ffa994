import type { Child } from './child.ts'
import { expectation, stuckAfterMs, type Demand } from './scaling-policy.ts'
import type { RunTimes } from './ending.ts'
import type { Program, Task } from './task.ts'

interface Waiting {
  task: Task
  since: number
}

/** The children of one program, and the runs of it that wait for one. */
export class Group {
  readonly #waiting: Waiting[] = []
  readonly #idle: Child[] = []
  readonly running = new Set<Child>()
  /** Children that were asked for because runs wait here. */
  coming = 0
  /** A run that wants a child of its own: the child ends with it. */
  readonly isForOne: boolean
  readonly program: Program
  #expectedMs: number | undefined
  #waitsMs: number | undefined

  constructor(program: Program, isForOne = false) {
    this.program = program
    this.isForOne = isForOne
  }

  /** The child that became free last, so that the others may end unused. */
  takeIdle(): Child | undefined {
    for (;;) {
      const child = this.#idle.pop()
      if (child === undefined || child.state === 'idle') return child
    }
  }

  add(child: Child): void {
    this.#idle.push(child)
  }

  remove(child: Child): void {
    this.running.delete(child)
    const at = this.#idle.indexOf(child)
    if (at >= 0) this.#idle.splice(at, 1)
  }

  wait(task: Task): void {
    this.#waiting.push({ task, since: performance.now() })
  }

  nextTask(): Task | undefined {
    return this.#waiting.shift()?.task
  }

  /** Takes a run out of the queue; false when it is not in it. */
  withdraw(task: Task): boolean {
    const at = this.#waiting.findIndex((each) => each.task === task)
    if (at >= 0) this.#waiting.splice(at, 1)
    return at >= 0
  }

  /** A run of it has ended. */
  took({ ms, heldUpMs, waitedMs }: RunTimes): void {
    this.#expectedMs = expectation(this.#expectedMs, ms - heldUpMs)
    this.#waitsMs = expectation(this.#waitsMs, waitedMs)
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#idle.length === 0 && this.running.size === 0 && this.coming === 0
  }

  demand(now: number, cores: number): Demand {
    const stuckSince = now - stuckAfterMs(this.#expectedMs)
    let [running, stuck] = [0, 0]
    for (const { state, runningSince } of this.running) {
      if (state !== 'ending') running += 1
      if (state === 'running' && runningSince < stuckSince) stuck += 1
    }
    return {
      waiting: this.#waiting.length,
      running,
      stuck,
      coming: this.coming,
      expectedMs: this.#expectedMs,
      waitsMs: this.#waitsMs,
      waitedMs: now - (this.#waiting[0]?.since ?? now),
      cores,
    }
  }
}
