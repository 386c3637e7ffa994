import { availableParallelism } from 'node:os'
import type { Logger } from '@automation/service'
import type { ChildrenConfig } from '../config.ts'
import { Child, usualMb, type ChildEvents } from './child.ts'
import { Group } from './group.ts'
import type { Launcher } from './launch.ts'
import { childrenWanted, patienceMs } from './policy.ts'
import { Spares } from './spares.ts'
import type { Exit, Task } from './task.ts'
import { endings } from './wear.ts'

export interface PoolOptions {
  config: ChildrenConfig
  launcher: Launcher
  frameMaxBytes: number
  logger: Logger
}

const sweepMs = 1000
const triesToStart = 3
const retryMs = 200
const sparesLaterMs = 10

/**
 * The children: blank spares at hand, warm ones by program, and the runs that wait for one. A child of a program never
 * runs another; blank ones belong to nobody.
 */
export class ChildPool {
  readonly #options: PoolOptions
  readonly #cores = availableParallelism()
  readonly #children = new Set<Child>()
  readonly #spares: Spares
  readonly #groups = new Map<string, Group>()
  /** Which group each child works for. */
  readonly #groupOf = new Map<Child, Group>()
  /** Who asked for a blank child, in order. */
  readonly #wants: Group[] = []
  readonly #launching = new Set<Promise<void>>()
  #failedStarts = 0
  #patience: NodeJS.Timeout | undefined
  #sweeper: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #sparesSoon: NodeJS.Timeout | undefined
  #stopped = false
  #allGone: (() => void) | undefined

  constructor(options: PoolOptions) {
    this.#options = options
    this.#spares = new Spares(options.config.spares)
  }

  start(): void {
    this.#sweeper = setInterval(() => this.#sweep(), sweepMs)
    this.#supply()
  }

  /** Runs a task as soon as there is a child for it. */
  run(task: Task): void {
    const group = this.#groupFor(task)
    const child = group.takeIdle()
    if (child !== undefined) return this.#begin(child, group, task)
    group.wait(task)
    this.#ask(group)
  }

  /** Takes back a task that no child has begun; false when one has. */
  withdraw(task: Task): boolean {
    const known = this.#groups.get(task.program.key)
    return known?.withdraw(task) === true || this.#wants.some((group) => group.withdraw(task))
  }

  /** Ends all children, and resolves when they are gone. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#sweeper)
    clearTimeout(this.#patience)
    clearTimeout(this.#retry)
    clearTimeout(this.#sparesSoon)
    await Promise.all(this.#launching)
    if (this.#children.size === 0) return
    const gone = new Promise<void>((resolve) => (this.#allGone = resolve))
    for (const child of this.#children) child.end('kill')
    await gone
  }

  /** Children that have been running one task for longer than `ms`. */
  longRunning(ms: number): Child[] {
    const since = performance.now() - ms
    return [...this.#children].filter(({ state, runningSince }) => state === 'running' && runningSince < since)
  }

  get children(): ReadonlySet<Child> {
    return this.#children
  }

  get failedToStart(): boolean {
    return this.#failedStarts >= triesToStart
  }

  #groupFor(task: Task): Group {
    if (task.fresh) return new Group(true)
    const { key } = task.program
    let group = this.#groups.get(key)
    if (group === undefined) this.#groups.set(key, (group = new Group()))
    return group
  }

  #begin(child: Child, group: Group, task: Task): void {
    group.running.add(child)
    this.#groupOf.set(child, group)
    child.begin(task)
  }

  #ask(group: Group): void {
    const more = childrenWanted(group.demand(performance.now(), this.#cores))
    for (let each = 0; each < more; each += 1) {
      group.coming += 1
      this.#wants.push(group)
    }
    if (more > 0) this.#supply()
    if (group.hasWaiting) this.#patience ??= setTimeout(() => this.#lookAgain(), patienceMs)
  }

  /** Two turns later, when what came in while this process was busy has been read, and no child seems busy that is not. */
  #lookAgain(): void {
    setImmediate(() => setImmediate(() => this.#askAgain()))
  }

  #askAgain(): void {
    this.#patience = undefined
    for (const group of this.#groups.values()) if (group.hasWaiting) this.#ask(group)
  }

  /** Gives blank children to who asked for them, and starts as many as are missing. */
  #supply(): void {
    while (this.#wants.length > 0) {
      const group = this.#wants[0]!
      const isWanted = childrenWanted({ ...group.demand(performance.now(), this.#cores), coming: 0 }) > 0
      const child = isWanted ? this.#spares.take() : undefined
      if (child === undefined && isWanted) break
      this.#wants.shift()
      group.coming -= 1
      if (child !== undefined) this.#begin(child, group, group.nextTask()!)
    }
    this.#startUpTo(this.#wants.length)
    // The run that has just got the last spare goes first.
    this.#sparesSoon ??= setTimeout(() => {
      this.#sparesSoon = undefined
      this.#startUpTo(this.#wants.length + this.#spares.wanted)
    }, sparesLaterMs)
  }

  #startUpTo(blank: number): void {
    const starting = this.#launching.size + [...this.#children].filter(({ state }) => state === 'starting').length
    let missing = blank - this.#spares.count - starting
    for (let room = this.#cores * 2 - starting; room > 0 && missing > 0 && this.#mayStart(); room -= 1, missing -= 1)
      this.#start()
  }

  #mayStart(): boolean {
    if (this.#stopped || this.#retry !== undefined) return false
    let heldMb = usualMb * (1 + this.#launching.size)
    for (const child of this.#children) heldMb += child.memoryMb
    if (heldMb <= this.#options.config.memoryMb || this.#children.size === 0) return true
    const oldest = [...this.#children]
      .filter(({ state }) => state === 'idle')
      .toSorted((a, b) => a.freeSince - b.freeSince)[0]
    oldest?.end('kill')
    return false
  }

  async #startOne(): Promise<void> {
    try {
      const launched = await this.#options.launcher.javascript()
      const child = new Child(launched, this.#options.frameMaxBytes, this.#events)
      this.#children.add(child)
      if (this.#stopped) child.end('kill')
    } catch (error) {
      this.#startFailed(error)
    }
  }

  /** One that is on its way counts as starting. */
  #start(): void {
    const launching = this.#startOne().finally(() => this.#launching.delete(launching))
    this.#launching.add(launching)
  }

  readonly #events: ChildEvents = {
    ready: (child) => {
      this.#failedStarts = 0
      this.#spares.add(child)
      this.#supply()
      if (child.state === 'blank') child.warmUp()
    },
    free: (child) => this.#free(child),
    unclean: (reason) => this.#options.logger.debug({ reason }, 'a child is not clean after its run'),
    gone: (child, exit) => this.#gone(child, exit),
  }

  #free(child: Child): void {
    const group = this.#groupOf.get(child)!
    group.running.delete(child)
    group.took(child.tookMs)
    const { maxRuns, maxAgeMs } = this.#options.config
    const isWorn = child.runs >= maxRuns || child.freeSince - child.startedAt >= maxAgeMs
    if (isWorn || this.#stopped || group.isForOne) child.end('kill')
    if (child.state !== 'idle') return group.hasWaiting ? this.#ask(group) : undefined
    const task = group.nextTask()
    if (task !== undefined) this.#begin(child, group, task)
    else group.add(child)
  }

  #gone(child: Child, exit: Exit): void {
    this.#children.delete(child)
    this.#spares.remove(child)
    const group = this.#groupOf.get(child)
    this.#groupOf.delete(child)
    group?.remove(child)
    if (!child.hasStarted) this.#startFailed(exit)
    if (group?.hasWaiting) this.#ask(group)
    this.#supply()
    if (this.#children.size === 0) this.#allGone?.()
  }

  #startFailed(why: unknown): void {
    if (this.#stopped) return
    this.#failedStarts += 1
    this.#options.logger.error({ why, failedStarts: this.#failedStarts }, 'a child did not start')
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined
      this.#supply()
    }, retryMs * this.#failedStarts)
    if (!this.failedToStart) return
    const message = 'No process could be started for the run'
    for (const group of new Set([...this.#groups.values(), ...this.#wants])) {
      for (let task = group.nextTask(); task !== undefined; task = group.nextTask())
        task.ended({ kind: 'failure', name: 'Error', message, stack: '' })
    }
  }

  #sweep(): void {
    for (const child of endings(this.#children, performance.now(), this.#options.config)) child.end('kill')
    for (const child of this.#spares.takeSurplus()) child.end('kill')
    for (const [key, group] of this.#groups) if (group.isEmpty) this.#groups.delete(key)
    this.#supply()
  }
}
