import { readdirSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { below, timesOf, type Process } from '@automation/jail'
import type { Child } from '../child.ts'
import { busyMs } from './by-groups.ts'
import type { CpuPriority } from './cpu-priority.ts'

// Against one that has not been lowered, such a process gets a third of the time.
const lowered = 5
const isRoot = process.getuid?.() === 0

/** The run of a child, as seen at the last look. */
interface Seen {
  run: number
  usedMs: number
  /** Those whose own priority is lower. */
  lowered: Set<number>
  /** The process of the child itself. */
  process: Process
}

/** The priority of processes is lowered when they are seen to compute. */
export class CpuPriorityByNiceness implements CpuPriority {
  /** How far below its launcher a child is. */
  readonly #depth: number
  readonly #seen = new WeakMap<Child, Seen>()

  constructor(depth: number) {
    this.#depth = depth
  }

  hurryStarting(): void {}

  hurryLate(): void {}

  begins(): void {}

  look(child: Child, processes: Map<number, Process[]>): void {
    const process = firstBelow(child.pid, this.#depth, processes)
    if (process === undefined) return
    const all = below(process.pid, processes)
    // One that runs Python only watches over its run.
    if (child.language === 'javascript') all.push(process)
    const usedMs = all.reduce((sum, { pid }) => sum + timesOf(pid).usedMs, 0)
    const before = this.#seen.get(child)
    const seen = before?.run === child.runs ? before : { run: child.runs, usedMs, lowered: new Set<number>(), process }
    const gainedMs = usedMs - seen.usedMs
    this.#seen.set(child, Object.assign(seen, { usedMs, process }))
    if (seen.lowered.size > 0 || gainedMs >= busyMs || all.some(({ isBusy }) => isBusy)) lower(all, seen.lowered)
  }

  putBack(child: Child): boolean {
    const seen = this.#seen.get(child)
    this.#seen.delete(child)
    return seen === undefined || seen.lowered.size === 0 || raise(seen.process.pid, seen.lowered)
  }
}

/** The first that this process started, and that one, down to a depth. */
function firstBelow(pid: number, depth: number, processes: Map<number, Process[]>): Process | undefined {
  const all = (processes.get(pid) ?? []).map((each) => ({ each, started: timesOf(each.pid).started }))
  const first = all.toSorted((a, b) => a.started - b.started || a.each.pid - b.each.pid)[0]?.each
  return first === undefined || depth === 1 ? first : firstBelow(first.pid, depth - 1, processes)
}

/** Gives these a lower priority, and the group that the kernel makes of each session (where this process may undo that). */
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

/** Puts back the usual one of a process and its session. False when it can't be. */
function raise(pid: number, known: Set<number>): boolean {
  if (isRoot) setGroup(pid, 0)
  return !known.has(pid) || setNice(pid, 0)
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
