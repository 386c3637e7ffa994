import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'

/** A process of this machine, as /proc tells. */
export interface Process {
  pid: number
  parent: number
  session: number
  /** Running, or waiting for a processor. */
  isBusy: boolean
  /** Time on processors, in hundredths of a second. */
  ticks: number
  /** When it was started, since the machine was. */
  started: number
  /** Pages of memory that it holds, shared ones included. */
  pages: number
}

/** All processes by their parents: those that started first come first. */
export function processesByParent(): Map<number, Process[]> {
  const found = new Map<number, Process[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const process = processOf(Number(name))
    const siblings = found.get(process.parent)
    if (siblings === undefined) found.set(process.parent, [process])
    else siblings.push(process)
  }
  return found
}

/** One process; all 0 when it has just ended. */
export function processOf(pid: number): Process {
  const stat = readOf(`/proc/${pid}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 22)
  const number = (at: number) => Number(fields[at] ?? 0)
  return {
    pid,
    parent: number(1),
    session: number(3),
    isBusy: fields[0] === 'R',
    ticks: number(11) + number(12),
    started: number(19),
    pages: number(21),
  }
}

/** All processes below this one. */
export function below(pid: number, processes: Map<number, Process[]>): Process[] {
  const found: Process[] = []
  for (const open = [pid]; open.length > 0;) {
    for (const each of processes.get(open.pop()!) ?? []) {
      found.push(each)
      open.push(each.pid)
    }
  }
  return found
}

/** The first that this process started, and that one, down to a depth. */
export function firstBelow(pid: number, depth: number, processes: Map<number, Process[]>): Process | undefined {
  const all = processes.get(pid) ?? []
  const first = all.toSorted((a, b) => a.started - b.started || a.pid - b.pid)[0]
  return first === undefined || depth === 1 ? first : firstBelow(first.pid, depth - 1, processes)
}

/** How many files and sockets a process has open; 0 when it has just ended. */
export function openFiles({ pid }: Process): number {
  const path = `/proc/${pid}/fd`
  try {
    // Linux before 6.2 does not say it here.
    return statSync(path).size || readdirSync(path).length
  } catch {
    return 0
  }
}

// Whoever reads without one gets 64 KiB for each file, which soon is more to collect than all else.
const buffer = Buffer.allocUnsafeSlow(4096)

/** The text of a short file of /proc; nothing when its process has just ended. */
export function readOf(path: string): string {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    return buffer.toString('latin1', 0, readSync(file, buffer))
  } catch {
    return ''
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
