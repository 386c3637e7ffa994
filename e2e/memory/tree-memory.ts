import { readFileSync } from 'node:fs'
import type { System } from '../system/system.ts'

/** What a process holds, in MB: its proportional share of what it has in common with others (PSS). */
export interface HeldMemory {
  pid: number
  command: string
  mb: number
}

/** The processes of a system that live now, the largest first. */
export function memoryOf(system: System): HeldMemory[] {
  const all = system.processes().map(({ pid, command }) => ({ pid, command, mb: pssMb(pid) }))
  return all.toSorted((a, b) => b.mb - a.mb)
}

function pssMb(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0 // it ended while it was looked at
  }
}
