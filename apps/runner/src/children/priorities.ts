import { readdirSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { Process } from '@automation/jail'

// Against one that has not been lowered, such a process gets a third of the time.
const lowered = 5
const isRoot = process.getuid?.() === 0

/** Gives these a lower priority, and the group that the kernel makes of each session (where this process may undo that). */
export function lower(processes: Process[], known: Set<number>): void {
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
export function raise(pid: number, known: Set<number>): boolean {
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
