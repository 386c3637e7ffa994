import { readdirSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { below, firstBelow, type Process } from '@automation/jail'
import type { Child } from './child.ts'

// Against one that has not been lowered, such a process gets a third of the time.
const lowered = 5
// So much in a look's time is computing.
const busyTicks = 5
const isRoot = process.getuid?.() === 0

/** The run of a child, as seen at the last looks. */
interface Seen {
  run: number
  ticks: number
  lowered: Set<number>
  /** The process of the child itself. */
  process: Process
}

/**
 * Runs that compute for longer than a moment give way to those of others, which mostly are short: all their processes
 * get a lower priority, and so does the group that the kernel makes of each session (where this process may undo that).
 */
export class GivingWay {
  /** How far below its launcher a child is. */
  readonly #depth: number
  readonly #seen = new WeakMap<Child, Seen>()

  constructor(depth: number) {
    this.#depth = depth
  }

  /** Looks at a run that has been on for a while. */
  look(child: Child, processes: Map<number, Process[]>): void {
    const process = firstBelow(child.pid, this.#depth, processes)
    if (process === undefined) return
    const all = below(process.pid, processes)
    // One that runs Python only watches over its run.
    if (child.language === 'javascript') all.push(process)
    const ticks = all.reduce((sum, each) => sum + each.ticks, 0)
    const before = this.#seen.get(child)
    const seen = before?.run === child.runs ? before : { run: child.runs, ticks, lowered: new Set<number>(), process }
    const isBusy = seen.lowered.size > 0 || ticks - seen.ticks >= busyTicks || all.some((each) => each.isBusy)
    seen.ticks = ticks
    this.#seen.set(child, seen)
    if (isBusy) lower(all, seen.lowered)
  }

  /** Its run is over: gives the child back what it had. False when it can't be given. */
  putBack(child: Child): boolean {
    const seen = this.#seen.get(child)
    this.#seen.delete(child)
    if (seen === undefined || seen.lowered.size === 0) return true
    const { process, lowered: known } = seen
    if (isRoot) setGroup(process.pid, 0)
    return !known.has(process.pid) || setNice(process.pid, 0)
  }
}

function lower(processes: Process[], known: Set<number>): void {
  const sessions = new Set<number>()
  for (const { pid, session } of processes) {
    if (known.has(pid)) continue
    known.add(pid)
    setNice(pid, lowered)
    if (!isRoot || sessions.has(session)) continue
    sessions.add(session)
    setGroup(pid, lowered)
  }
}

/** Of each thread. False when that may not be, or the process has gone. */
function setNice(pid: number, nice: number): boolean {
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), nice)
    return true
  } catch {
    return false
  }
}

function setGroup(pid: number, nice: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice))
  } catch {
    // The kernel has no such groups, or the process has gone.
  }
}
