import { availableParallelism } from 'node:os'
import { ownMemoryBytes } from '@automation/jail'
import type { Logger } from '@automation/service'
import type { ChildrenConfig } from '../config.ts'
import { Child, type ChildEvents } from './child.ts'
import { notStarted } from './ending.ts'
import type { ChildLauncher } from './child-launcher.ts'
import type { CpuPriority } from './cpu-priority/cpu-priority.ts'
import { Group } from './group.ts'
import { MemoryBudget } from './memory-budget.ts'
import { RunMeter } from './run-meter.ts'
import { childrenToAdd, patienceMs } from './scaling-policy.ts'
import { SparesByKind, type Spares } from './spares.ts'
import type { Exit, Task } from './task.ts'
import { RecentlySeen } from '../recently-seen.ts'
import { endings, memoryToKeepMb, mustRetire } from './retirement.ts'

export interface PoolOptions {
  config: ChildrenConfig
  launcher: ChildLauncher
  frameMaxBytes: number
  cpuPriority: CpuPriority
  logger: Logger
}

const sweepMs = 1000
const triesToStart = 3
const retryMs = 200
const sparesLaterMs = 10

/**
 * The children: spares at hand, warm ones by program, and the runs that wait for one. A child of a program never
 * runs another; spares belong to nobody.
 */
export class ChildPool {
  readonly #options: PoolOptions
  readonly #cores = availableParallelism()
  readonly #children = new Set<Child>()
  readonly #spares: SparesByKind
  readonly #groups = new Map<string, Group>()
  /** Which group each child works for. */
  readonly #groupOf = new Map<Child, Group>()
  readonly #memory: MemoryBudget
  readonly #launching = new Map<Promise<void>, Spares>()
  readonly #called: RecentlySeen
  #failedStarts = 0
  #patience: NodeJS.Timeout | undefined
  #sweeper: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #sparesSoon: NodeJS.Timeout | undefined
  #stopped = false
  #allGone: (() => void) | undefined

  constructor(options: PoolOptions) {
    this.#options = options
    this.#called = new RecentlySeen(options.config.keptMs)
    this.#spares = new SparesByKind(options.launcher.languages, options.config.spares)
    const sharers = { children: this.#children, groupOf: this.#groupOf, spares: this.#spares.byKind }
    this.#memory = new MemoryBudget(options.config.memoryMb, sharers)
  }

  start(): void {
    this.#sweeper = setInterval(() => this.#sweep(), sweepMs)
    this.#refill()
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
    return (
      this.#groups.get(task.program.key)?.withdraw(task) === true ||
      this.#demandingGroups().some((group) => group.withdraw(task))
    )
  }

  /** Ends all children, and resolves when they are gone. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#sweeper)
    for (const timer of [this.#patience, this.#retry, this.#sparesSoon]) clearTimeout(timer)
    await Promise.all(this.#launching.keys())
    if (this.#children.size === 0) return
    for (const child of this.#children) child.end('kill')
    this.#options.cpuPriority.hurryLate(this.#children)
    await new Promise<void>((resolve) => (this.#allGone = resolve))
  }

  get children(): ReadonlySet<Child> {
    return this.#children
  }

  /** Whether a child is shown these packages, or will be. */
  usesPackages(key: string): boolean {
    return this.#spares.byKind.values().some(({ packages }) => packages?.key === key)
  }

  get failedToStart(): boolean {
    return this.#failedStarts >= triesToStart
  }

  #groupFor(task: Task): Group {
    const { program } = task
    if (task.fresh) return new Group(program, true)
    let group = this.#groups.get(program.key)
    if (group === undefined) this.#groups.set(program.key, (group = new Group(program)))
    return group
  }

  #begin(child: Child, group: Group, task: Task): void {
    group.running.add(child)
    this.#groupOf.set(child, group)
    child.begin(task)
    child.isCalledAgain = this.#called.came(task.program.key)
    this.#options.cpuPriority.begins(child, task.program.key)
  }

  #ask(group: Group): void {
    const more = childrenToAdd(group.demand(performance.now(), this.#cores))
    for (let each = 0; each < more; each += 1) {
      group.coming += 1
      this.#spares.for(group.program).demand.add(group)
    }
    if (more > 0) this.#refill()
    if (!group.hasWaiting) return
    this.#options.cpuPriority.hurryStarting(this.#children, this.#spares.for(group.program))
    this.#patience ??= setTimeout(() => setImmediate(() => setImmediate(() => this.#askAgain())), patienceMs)
  }

  /** Two turns later, when what came in while this process was busy has been read: nobody seems busy that is not. */
  #askAgain(): void {
    this.#patience = undefined
    for (const group of this.#groups.values()) if (group.hasWaiting) this.#ask(group)
  }

  readonly #demandingGroups = () => [...this.#spares.byKind.values()].flatMap(({ demand }) => [...demand])

  /** Gives spares to who asked for them, and starts as many as are missing. */
  #refill(): void {
    for (const spares of this.#spares.byKind.values()) this.#refillFrom(spares)
    for (const spares of this.#spares.byKind.values()) this.#startUpTo(spares, spares.demand.count)
    // The run that has just got the last spare goes first.
    this.#sparesSoon ??= setTimeout(() => {
      this.#sparesSoon = undefined
      for (const spares of this.#spares.byKind.values()) this.#startUpTo(spares, spares.demand.count + spares.target)
    }, sparesLaterMs)
  }

  #refillFrom(spares: Spares): void {
    for (let group = this.#memory.next(spares); group !== undefined; group = this.#memory.next(spares)) {
      const isNeeded = childrenToAdd({ ...group.demand(performance.now(), this.#cores), coming: 0 }) > 0
      const child = isNeeded ? spares.take() : undefined
      if (isNeeded && child === undefined) break
      spares.demand.remove(group)
      group.coming -= 1
      if (child !== undefined) this.#begin(child, group, group.nextTask()!)
    }
  }

  #startUpTo(spares: Spares, wanted: number): void {
    const starting = [...this.#launching.values()]
    for (const child of this.#children) if (child.state === 'starting') starting.push(child.spares)
    const missing = wanted - spares.count - starting.filter((each) => each === spares).length
    for (let more = Math.min(missing, this.#cores * 4 - starting.length); more > 0; more -= 1) {
      if (this.#stopped || this.#retry !== undefined) return
      if (!this.#memory.isThere(this.#launching.size)) {
        this.#memory.make()
        if (starting.length + this.#launching.size > 0 || !this.#memory.isOwed(spares)) return
      }
      this.#start(spares)
    }
  }

  async #startOne(spares: Spares): Promise<void> {
    try {
      const { launcher, frameMaxBytes } = this.#options
      const launched = await launcher.start(spares, spares.demand.count === 0)
      const meter = new RunMeter(spares.language, launcher)
      const child = new Child(spares, launched, { frameMaxBytes, meter, events: this.#events })
      this.#children.add(child)
      if (this.#stopped) child.end('kill')
    } catch (error) {
      this.#startFailed({ err: error })
    }
  }

  /** One that is on its way counts as starting. */
  #start(spares: Spares): void {
    const launching = this.#startOne(spares).finally(() => this.#launching.delete(launching))
    this.#launching.set(launching, spares)
  }

  readonly #events: ChildEvents = {
    ready: (child) => {
      this.#failedStarts = 0
      child.spares.add(child)
      this.#refill()
      if (child.state === 'spare') child.rehearse()
    },
    free: (child) => this.#free(child),
    unclean: (reason) => this.#options.logger.debug({ reason }, 'a child is not clean after its run'),
    gone: (child, exit) => this.#gone(child, exit),
  }

  #free(child: Child): void {
    const group = this.#groupOf.get(child)!
    group.running.delete(child)
    group.took(child.took)
    const { config, cpuPriority } = this.#options
    if (!cpuPriority.putBack(child) || mustRetire(child, config) || this.#stopped || group.isForOne) child.end('kill')
    if (child.state !== 'idle') return group.hasWaiting ? this.#ask(group) : undefined
    const task = group.nextTask()
    if (task !== undefined) this.#begin(child, group, task)
    else group.add(child)
  }

  #gone(child: Child, exit: Exit): void {
    this.#children.delete(child)
    child.spares.remove(child)
    const group = this.#groupOf.get(child)
    this.#groupOf.delete(child)
    group?.remove(child)
    if (!child.hasStarted) this.#startFailed({ exit })
    if (group?.hasWaiting) this.#ask(group)
    this.#refill()
    if (this.#children.size === 0) this.#allGone?.()
  }

  #startFailed(why: { err: unknown } | { exit: Exit }): void {
    if (this.#stopped) return
    // Those that fail together count as one, as when what starts them has ended.
    if (this.#retry === undefined) this.#failedStarts += 1
    this.#options.logger.error({ ...why, failedStarts: this.#failedStarts }, 'a child did not start')
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined
      this.#refill()
    }, retryMs * this.#failedStarts)
    if (!this.failedToStart) return
    for (const group of new Set([...this.#groups.values(), ...this.#demandingGroups()])) {
      for (let task = group.nextTask(); task !== undefined; task = group.nextTask()) task.ended(notStarted)
    }
  }

  #sweep(): void {
    const { config } = this.#options
    const toKeepMb = memoryToKeepMb(config.memoryMb, { free: process.availableMemory(), total: ownMemoryBytes() })
    for (const child of endings(this.#children, performance.now(), config, toKeepMb)) child.end('kill')
    for (const spares of this.#spares.byKind.values()) for (const child of spares.takeSurplus()) child.end('kill')
    this.#options.cpuPriority.hurryLate(this.#children)
    for (const [key, group] of this.#groups) if (group.isEmpty) this.#groups.delete(key)
    this.#spares.tidy([...this.#children].map(({ spares }) => spares).concat(...this.#launching.values()))
    this.#refill()
  }
}
