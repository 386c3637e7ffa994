import { availableParallelism } from 'node:os'
import { below, firstBelow, processOf, readOf, type CpuGroups, type CpuWeight, type Process } from '@automation/jail'
import type { Child } from './child.ts'
import { lower, raise } from './priorities.ts'
import type { Spares } from './spares.ts'

// So much since the last look is computing.
const busyTicks = 5
const msOfTick = 10
// Early looks find what starts many processes at once.
const earlyEveryMs = 25
const earlyUntilMs = 200
const busyEarlyTicks = 2
// Each costs some 50 µs.
const earlyLooks = 4
// A run that has had less of a processor since the last look, and wants more, has waited for one; then it has a part of
// the usual for a while.
const waitedBelow = 0.1
const waitedEarlyLooks = 3
const littleForMs = 1000
// Of so many processes each has had less than is counted, and all together much.
const crowd = 6
const crowdWaitsMs = 2000
// Who looks at itself for long is taken for one that hangs.
const checksForMs = 100
// Else no child would be made ahead on a busy machine.
const startsForMs = 500
// A program whose run took less does not compute any more.
const lightMs = 100
const heavyMax = 1000
const cores = availableParallelism()

/** The run of a child, as seen at the last looks. */
interface Seen {
  run: number
  ticks: number
  at: number
  /** Those whose own priority is lower. */
  lowered: Set<number>
  /** Early looks at which it had got nothing, and wanted to. */
  waited: number
  /** Until when it has a part of the usual. */
  littleUntil: number
  /** The process of the child itself. */
  process?: Process
}

/**
 * Runs that compute for longer than a moment give way to those of others, which mostly are short, and so do children that
 * are made ahead. Where each child has a group of its own, that gets what others leave, or a quarter of the usual where they
 * leave nothing, and runs of a program that computed do so from their first moment. Elsewhere the priority of processes is
 * lowered when they are seen to compute.
 */
export class GivingWay {
  /** How far below its launcher a child is. */
  readonly #depth: number
  readonly #groups: CpuGroups | undefined
  readonly #seen = new WeakMap<Child, Seen>()
  readonly #weights = new WeakMap<Child, CpuWeight>()
  /** Programs that computed. */
  readonly #heavy = new Set<string>()
  readonly #programs = new WeakMap<Child, string>()
  readonly #early = new Set<Child>()
  #looksSoon = false

  constructor(depth: number, groups?: CpuGroups) {
    this.#depth = depth
    this.#groups = groups
  }

  /** Somebody waits for one of those that are on their way. */
  hurryStarting(children: Iterable<Child>, which: Spares): void {
    for (const child of children) if (child.state === 'starting' && child.spares === which) this.#weigh(child, 'usual')
  }

  /** Those that are to be gone, and those that have been on their way for long. */
  hurryLate(children: Iterable<Child>): void {
    const since = performance.now() - startsForMs
    for (const child of children)
      if (child.state === 'ending' || (child.state === 'starting' && child.startedAt < since))
        this.#weigh(child, 'usual')
  }

  /** It begins a run of a program. */
  begins(child: Child, program: string): void {
    if (this.#groups === undefined) return
    this.#programs.set(child, program)
    this.#weigh(child, this.#heavy.has(program) ? 'idle' : 'usual')
    this.#early.add(child)
    this.#lookSoon()
  }

  /** Looks at a run that has been on for a while. */
  look(child: Child, processes: Map<number, Process[]>): void {
    if (this.#groups === undefined) return this.#lookAtPriorities(child, processes)
    const all = below(child.pid, processes)
    const { gainedMs, elapsedMs, seen } = this.#compare(child, all)
    const isBusy = all.some((each) => each.isBusy)
    if (!isBusy && gainedMs < busyTicks * msOfTick) return
    if (gainedMs >= busyTicks * msOfTick) this.#know(child)
    const mayWait = all.length <= crowd || performance.now() - child.runningSince >= crowdWaitsMs
    const hasWaited = mayWait && isBusy && elapsedMs >= earlyUntilMs && gainedMs < elapsedMs * waitedBelow
    this.#lower(child, seen, hasWaited)
  }

  #lookAtPriorities(child: Child, processes: Map<number, Process[]>): void {
    const process = firstBelow(child.pid, this.#depth, processes)
    if (process === undefined) return
    const all = below(process.pid, processes)
    // One that runs Python only watches over its run.
    if (child.language === 'javascript') all.push(process)
    const { gainedMs, seen } = this.#compare(child, all)
    seen.process = process
    const isBusy = seen.lowered.size > 0 || gainedMs >= busyTicks * msOfTick || all.some((each) => each.isBusy)
    if (isBusy) lower(all, seen.lowered)
  }

  /** Its run is over: gives the child back what it had. False when it can't be given. */
  putBack(child: Child): boolean {
    const { process, lowered } = this.#seen.get(child) ?? {}
    this.#seen.delete(child)
    if (child.tookMs < lightMs) this.#heavy.delete(this.#programs.get(child) ?? '')
    return process === undefined || lowered === undefined || lowered.size === 0 || raise(process.pid, lowered)
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
      if (state === 'checking' && now - freeSince >= checksForMs) this.#weigh(child, 'usual')
      const isOld = state === 'running' && now - runningSince >= earlyUntilMs
      const givesWay = this.#weights.get(child) !== 'usual'
      if ((state !== 'running' && state !== 'checking') || (isOld && !givesWay)) this.#early.delete(child)
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
    const all = this.#groups!.members(child.pid).map(processOf)
    const { gainedMs, seen } = this.#compare(child, all)
    const busy = all.filter(({ isBusy }) => isBusy).length
    seen.waited = busy > 0 && gainedMs === 0 && all.length <= crowd ? seen.waited + 1 : 0
    const hasWaited = seen.waited >= waitedEarlyLooks && this.#weights.get(child) === 'idle'
    if (!hasWaited && busy <= 1 && gainedMs < busyEarlyTicks * msOfTick) return
    this.#know(child)
    this.#lower(child, seen, hasWaited)
  }

  #lower(child: Child, seen: Seen, hasWaited: boolean): void {
    const now = performance.now()
    if (hasWaited) seen.littleUntil = now + littleForMs
    this.#early.add(child)
    this.#lookSoon()
    this.#weigh(child, now < seen.littleUntil ? 'little' : 'idle')
  }

  /** With what was seen of the same run before. */
  #compare(child: Child, processes: Process[]): { gainedMs: number; elapsedMs: number; seen: Seen } {
    const at = performance.now()
    const ticks = processes.reduce((sum, each) => sum + each.ticks, 0)
    const before = this.#seen.get(child)
    const seen = before?.run === child.runs ? before : { run: child.runs, ticks, at, ...unseen() }
    const compared = { gainedMs: (ticks - seen.ticks) * msOfTick, elapsedMs: at - seen.at, seen }
    Object.assign(seen, { ticks, at })
    this.#seen.set(child, seen)
    return compared
  }

  #know(child: Child): void {
    const program = this.#programs.get(child)
    if (program !== undefined && this.#heavy.size < heavyMax) this.#heavy.add(program)
  }

  #weigh(child: Child, weight: CpuWeight): void {
    if (this.#groups === undefined || this.#weights.get(child) === weight) return
    // Before its launcher has made it, it is tried again.
    if (this.#groups.weigh(child.pid, weight)) this.#weights.set(child, weight)
  }
}

function unseen() {
  return { lowered: new Set<number>(), waited: 0, littleUntil: 0 }
}

/** Whether more threads of the machine want to run than can. */
function areProcessorsShort(): boolean {
  return Number(readOf('/proc/loadavg').split(' ')[3]?.split('/')[0] ?? 0) > cores
}
