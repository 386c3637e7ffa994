import { availableParallelism } from 'node:os'
import { below, type CpuGroups, type CpuWeight, type Process, processOf, readOf } from '@automation/jail'
import { RecentlySeen } from '../../recently-seen.ts'
import type { Child } from '../child.ts'
import type { Spares } from '../spares.ts'
import type { CpuPriority } from './cpu-priority.ts'

/** So much since the last look is computing. */
export const busyMs = 50
const busyEarlyMs = 15
// So many early looks at once: each costs some 200 µs at most.
const earlyLooks = 4
// A run that has had less of a processor since the last look, and wants more, has waited for one; then it has a part of
// the usual for a while.
const waitedBelow = 0.1
const waitedEarlyLooks = 3
const littleForMs = 1000
// More processes than so many are not looked at one by one, and wait for longer.
const crowd = 6
const crowdWaitsMs = 2000
// Else no child would be made ahead on a busy machine.
const startsForMs = 500
// A program whose run had less of a processor, with all that it started, does not compute any more; a child that looks at
// itself for longer is taken for one that hangs.
const lightMs = 100
const heavyMax = 1000
const cores = availableParallelism()

/** The run of a child, as seen at the last looks. */
interface Seen {
  run: number
  usedMs: number
  at: number
  /** Early looks at which it had got nothing, and wanted to. */
  waited: number
  /** Until when it has a part of the usual. */
  littleUntil: number
}

/**
 * Each child has a group of its own. While a child computes, its group gets the time that others leave, or a quarter of
 * the usual where they leave none. Runs of programs that computed before begin so, and so do children made ahead.
 */
export class CpuPriorityByGroups implements CpuPriority {
  readonly #groups: CpuGroups
  readonly #forkBombGuard: ForkBombGuard
  readonly #seen = new WeakMap<Child, Seen>()
  readonly #weights = new WeakMap<Child, CpuWeight>()
  /** Programs that computed. */
  readonly #heavy = new Set<string>()
  /** The program of the last run, and what the group had had before it where that one is known to have computed. */
  readonly #runs = new WeakMap<Child, { program: string; usedBefore: number | undefined }>()
  readonly #early = new Set<Child>()
  readonly #programs = new RecentlySeen()
  #looksSoon = false

  constructor(groups: CpuGroups) {
    this.#groups = groups
    this.#forkBombGuard = new ForkBombGuard(groups)
  }

  hurryStarting(children: Iterable<Child>, which: Spares): void {
    for (const child of children) if (child.state === 'starting' && child.spares === which) this.#weigh(child, 'usual')
  }

  hurryLate(children: Iterable<Child>): void {
    const since = performance.now() - startsForMs
    for (const child of children)
      if (child.state === 'ending' || (child.state === 'starting' && child.startedAt < since))
        this.#weigh(child, 'usual')
  }

  begins(child: Child, program: string): void {
    const usedBefore = this.#heavy.has(program) ? (this.#groups.usedMs(child.pid) ?? 0) : undefined
    this.#runs.set(child, { program, usedBefore })
    this.#programs.came(program)
    this.#forkBombGuard.release(child)
    this.#weigh(child, usedBefore === undefined ? 'usual' : 'idle')
    this.#early.add(child)
    this.#lookSoon()
  }

  look(child: Child, processes: Map<number, Process[]>): void {
    const all = below(child.pid, processes)
    const { gainedMs, elapsedMs, seen } = this.#compare(child)
    const isBusy = all.some((each) => each.isBusy)
    const mayWait = all.length <= crowd || performance.now() - child.runningSince >= crowdWaitsMs
    const gotNothing = isBusy && elapsedMs >= earlyUntilMs && gainedMs < elapsedMs * waitedBelow
    this.#lookForForkBomb(child, all.length)
    const hasWaited = mayWait && gotNothing && !this.#forkBombGuard.isHeld(child) && this.#weights.get(child) === 'idle'
    if (!hasWaited && gainedMs < busyMs) return
    if (gainedMs >= busyMs) this.#know(child)
    this.#lower(child, seen, hasWaited)
  }

  putBack(child: Child): boolean {
    this.#seen.delete(child)
    const { program, usedBefore } = this.#runs.get(child)!
    if (usedBefore === undefined) return true
    const usedMs = (this.#groups.usedMs(child.pid) ?? Infinity) - usedBefore
    if (usedMs < lightMs) this.#heavy.delete(program)
    return true
  }

  #lookSoon(): void {
    if (this.#looksSoon) return
    this.#looksSoon = true
    setTimeout(() => this.#lookEarly(), earlyEveryMs).unref()
  }

  /** At young runs, where anybody has to wait at all; and at children that have given way and take long to become free. */
  #lookEarly(): void {
    const now = performance.now()
    for (const child of this.#early) {
      const { state, freeSince, runningSince } = child
      if (state === 'checking' && now - freeSince >= lightMs) this.#weigh(child, 'usual')
      const isOld = state === 'running' && now - runningSince >= earlyUntilMs
      const hasLowPriority = this.#weights.get(child) !== 'usual'
      if ((state !== 'running' && state !== 'checking') || (isOld && !hasLowPriority)) this.#early.delete(child)
    }
    const isYoung = (ms: number) => ms >= earlyEveryMs - 1 && ms < earlyUntilMs
    const some = [...this.#early]
      .filter(({ state, runningSince }) => state === 'running' && isYoung(now - runningSince))
      .slice(-earlyLooks)
    if (some.length > 0 && areProcessorsShort()) for (const child of some) this.#lookEarlyAt(child)
    this.#looksSoon = false
    if (this.#early.size > 0) this.#lookSoon()
  }

  #lookEarlyAt(child: Child): void {
    const members = this.#groups.members(child.pid)
    this.#lookForForkBomb(child, members.length)
    const { gainedMs, elapsedMs, seen } = this.#compare(child)
    const busy = members.slice(-crowd).filter((pid) => processOf(pid).isBusy).length
    const gotNothing = busy > 0 && elapsedMs > 0 && gainedMs < elapsedMs * waitedBelow
    seen.waited = gotNothing && members.length <= crowd ? seen.waited + 1 : 0
    const hasWaited = seen.waited >= waitedEarlyLooks && this.#weights.get(child) === 'idle'
    if (!hasWaited && busy <= 1 && gainedMs < busyEarlyMs) return
    this.#know(child)
    this.#lower(child, seen, hasWaited)
  }

  /** Where nobody else wants anything it may have all that there is. */
  #lookForForkBomb(child: Child, processes: number): void {
    if (this.#programs.others(this.#runs.get(child)!.program)) this.#forkBombGuard.look(child, processes)
  }

  #lower(child: Child, seen: Seen, hasWaited: boolean): void {
    const now = performance.now()
    if (hasWaited) seen.littleUntil = now + littleForMs
    this.#early.add(child)
    this.#lookSoon()
    this.#weigh(child, now < seen.littleUntil ? 'little' : 'idle')
  }

  /** With what was seen of the same run before. */
  #compare(child: Child): { gainedMs: number; elapsedMs: number; seen: Seen } {
    const at = performance.now()
    const usedMs = this.#groups.usedMs(child.pid) ?? 0
    const before = this.#seen.get(child)
    const seen = before?.run === child.runs ? before : { run: child.runs, usedMs, at, waited: 0, littleUntil: 0 }
    const compared = { gainedMs: usedMs - seen.usedMs, elapsedMs: at - seen.at, seen }
    this.#seen.set(child, Object.assign(seen, { usedMs, at }))
    return compared
  }

  #know(child: Child): void {
    if (this.#heavy.size < heavyMax) this.#heavy.add(this.#runs.get(child)!.program)
  }

  #weigh(child: Child, weight: CpuWeight): void {
    if (weight === 'usual') this.#forkBombGuard.release(child)
    if (this.#weights.get(child) === weight) return
    // Before its launcher has made it, it is tried again.
    if (this.#groups.weigh(child.pid, weight)) this.#weights.set(child, weight)
  }
}

/** Whether more threads of the machine want to run than can. */
function areProcessorsShort(): boolean {
  return Number(readOf('/proc/loadavg').split(' ')[3]?.split('/')[0] ?? 0) > cores
}

// Pools of workers are smaller, mostly.
const many = 30
// For the first time; each further one is twice as long.
const holdMs = 500
/** Young runs, and those that were held, are looked at so often, for so long. */
const earlyEveryMs = 25
const earlyUntilMs = 200

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
class ForkBombGuard {
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
