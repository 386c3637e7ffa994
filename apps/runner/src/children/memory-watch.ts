import {
  below,
  fileBytes,
  openFiles,
  privateBytes,
  processesByParent,
  proportionalBytes,
  tellsMemory,
  timesOf,
  type Process,
} from '@automation/jail'
import { EventLoopTurns } from '@automation/service'
import type { Child } from './child.ts'

export interface MemoryWatchOptions {
  /** What one run may hold, Node itself included. */
  limitMb: number
  /** Those that have been running for longer than a moment, and those that nobody has measured yet. */
  due(): Child[]
  all(): Iterable<Child>
  exceeded(child: Child): void
  /** Directories of a child that are in memory, as it sees them; they count to what all hold together. */
  inMemory: string[]
  /** Where nothing else bounds how many processes a run has: so many, its child and launcher included. */
  processLimit: number
  tooMany(child: Child): void
  /** So many files and sockets all processes of a run have open: the kernel counts them, and what is in them, to nobody. */
  openFilesLimit: number
  tooManyOpen(child: Child): void
  /** It is idle, and what its version has imported goes on. */
  restless(child: Child): void
  /** Is shown each, with all processes of the machine. */
  look(child: Child, processes: Map<number, Process[]>): void
}

const everyMs = 250
const restFactor = 25
const closeRestFactor = 10
// Of more processes no sum is made of what each has for itself.
const countedExactly = 16
// What one process may have open, as its launcher says.
const openOfOne = 1024
const allEveryMs = 10_000
// What a child holds that has forked much of it, as templates do, is counted in parts, so often.
const muchMb = 64
const partsEveryMs = 5000
// An idle child that has imported: what is above it, its template and the next fork. These only wait.
const idleProcesses = 5
const idleUsedMs = 500
const MB = 1024 * 1024

/**
 * Looks at what the process trees of runs hold together. Every process has limits of its own; this is for those that
 * hold little each, and for how many they are. Short runs are never looked at; a child is, once its first one is over.
 */
export class MemoryWatch {
  readonly #options: MemoryWatchOptions
  #timer: NodeJS.Timeout | undefined
  #lookedAtAll = 0
  readonly #lookedAtClosely = new WeakMap<Child, number>()
  readonly #countedInParts = new WeakMap<Child, number>()
  readonly #idleSince = new WeakMap<Child, { runs: number; usedMs: number }>()

  constructor(options: MemoryWatchOptions) {
    this.#options = options
  }

  start(): void {
    if (tellsMemory()) this.#timer = setTimeout(() => void this.#lookAndGoOn(), everyMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** A look takes time of this process, the more the more processes there are: so it rests longer. */
  async #lookAndGoOn(): Promise<void> {
    const turns = new EventLoopTurns()
    await this.#look(turns)
    const pauseMs = Math.min(Math.max(everyMs, turns.spentMs * restFactor), everyMs * 4)
    if (this.#timer !== undefined) this.#timer = setTimeout(() => void this.#lookAndGoOn(), pauseMs)
  }

  async #look(turns: EventLoopTurns): Promise<void> {
    const now = performance.now()
    const isTimeForAll = now - this.#lookedAtAll >= allEveryMs
    const children = isTimeForAll ? [...this.#options.all()] : this.#options.due()
    if (isTimeForAll) this.#lookedAtAll = now
    if (children.length === 0) return
    const doing = new Map(children.map((child) => [child, child.task]))
    const processes = await processesByParent(turns)
    for (const [child, task] of doing) {
      // Its launcher has not said yet which process it is, or it may not be in its jail yet.
      if (child.pid === 0 || child.state === 'starting') continue
      if (child.task === task) await this.#lookAt(child, processes, turns)
      if (isTimeForAll && child.keepsImports && this.#isRestless(child, processes)) this.#options.restless(child)
    }
  }

  async #lookAt(child: Child, processes: Map<number, Process[]>, turns: EventLoopTurns): Promise<void> {
    const { limitMb, processLimit, tooMany, openFilesLimit, tooManyOpen, inMemory } = this.#options
    const { task } = child
    if (child.state === 'running') this.#options.look(child, processes)
    const own = below(child.pid, processes)
    if (own.length > processLimit) tooMany(child)
    const resident = sumOf(own, (each) => each.residentBytes)
    if (resident > limitMb * MB) void this.#lookClosely(child, own)
    const inFiles = own[0] === undefined ? 0 : fileBytes(own[0], inMemory)
    if (own.length > countedExactly) measured(child, { held: resident + inFiles, ofRun: resident + inFiles })
    else {
      const privates = new Map(own.map((each) => [each, privateBytes(each)]))
      const privateOf = (each: Process) => privates.get(each)!
      const held = sumOf(own, privateOf)
      if (child.language === 'javascript' || held <= muchMb * MB) {
        const ofRun = sumOfRun(processesOfRun(child, own), privateOf)
        measured(child, { held: held + inFiles, ofRun: ofRun + inFiles })
      } else void this.#countInParts(child, own, inFiles)
    }
    // The launcher has few.
    if ((own.length - 1) * openOfOne <= openFilesLimit) return
    if ((await openFiles(own, turns)) > openFilesLimit && child.task === task) tooManyOpen(child)
  }

  /** Whether it has been idle since the last look at all, and not at rest. */
  #isRestless(child: Child, processes: Map<number, Process[]>): boolean {
    const own = below(child.pid, processes)
    const usedMs = sumOf(own, ({ pid }) => timesOf(pid).usedMs)
    const before = this.#idleSince.get(child)
    this.#idleSince.set(child, { runs: child.runs, usedMs })
    if (before?.runs !== child.runs) return false
    return own.length > idleProcesses || usedMs - before.usedMs > idleUsedMs
  }

  /** What forks share counts once. */
  async #countInParts(child: Child, processes: Process[], inFiles: number): Promise<void> {
    const now = performance.now()
    if (now < (this.#countedInParts.get(child) ?? 0)) return
    this.#countedInParts.set(child, now + partsEveryMs)
    const { task } = child
    const ofRun = processesOfRun(child, processes)
    const parts = new Map<Process, number>()
    for (const process of processes) parts.set(process, await proportionalBytes(process))
    const partOf = (process: Process) => parts.get(process)!
    const held = sumOf(processes, partOf) + inFiles
    measured(child, { held, ofRun: child.task === task ? sumOfRun(ofRun, partOf) + inFiles : 0 })
  }

  /** What is shared counts once. The kernel takes its time for that: one after the other, and not waited for. */
  async #lookClosely(child: Child, processes: Process[]): Promise<void> {
    if (performance.now() < (this.#lookedAtClosely.get(child) ?? 0)) return
    this.#lookedAtClosely.set(child, Infinity)
    const { task } = child
    const since = performance.now()
    let leftBytes = this.#options.limitMb * MB
    for (const process of processes.toSorted((a, b) => b.residentBytes - a.residentBytes)) {
      if (leftBytes >= 0) leftBytes -= await proportionalBytes(process)
    }
    const tookMs = performance.now() - since
    this.#lookedAtClosely.set(child, since + Math.min(tookMs * closeRestFactor, everyMs * 4))
    if (leftBytes < 0 && child.task === task) this.#options.exceeded(child)
  }
}

/** In bytes: all that its processes hold, and what those of its run do. */
function measured(child: Child, { held, ofRun }: { held: number; ofRun: number }): void {
  child.measuredMb = Math.round(held / MB)
  child.meter.holds(Math.round(ofRun / MB))
}

const processesOfRun = (child: Child, own: Process[]) => child.meter.ofRun(own, child.imports === 'shared')

/** What the process that runs the code holds counts in full, as its peak does; of others what they add. */
function sumOfRun([first, ...others]: Process[], of: (process: Process) => number): number {
  return first === undefined ? 0 : first.residentBytes + sumOf(others, of)
}

function sumOf(processes: Process[], of: (process: Process) => number): number {
  return processes.reduce((sum, process) => sum + of(process), 0)
}
