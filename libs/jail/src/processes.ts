import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { EventLoopTurns } from '@automation/service'

const msOfTick = 10

/** A process of this machine, as /proc tells. */
export interface Process {
  pid: number
  parent: number
  session: number
  /** Running, or waiting for a processor. */
  isBusy: boolean
  /** What it holds, in bytes; what it shares with others counts in full. */
  residentBytes: number
}

/** All processes by their parents; they come and go meanwhile. */
export async function processesByParent(turns = new EventLoopTurns()): Promise<Map<number, Process[]>> {
  const found = new Map<number, Process[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    await turns.next()
    const process = processOf(Number(name))
    const siblings = found.get(process.parent)
    if (siblings === undefined) found.set(process.parent, [process])
    else siblings.push(process)
  }
  return found
}

/**
 * One process; all 0 when it has just ended. Read from `status`: whoever reads `stat` waits for a process that is turning
 * into another program, for as long as that one gets no processor.
 */
export function processOf(pid: number): Process {
  const status = readOf(`/proc/${pid}/status`)
  const number = (name: string) => Number.parseInt(fieldOf(status, name)) || 0
  return {
    pid,
    parent: number('PPid'),
    session: number('NSsid'),
    isBusy: fieldOf(status, 'State').startsWith('R'),
    residentBytes: number('VmRSS') * 1024,
  }
}

/** A field of a status file, from its value on. */
export function fieldOf(status: string, name: string): string {
  const at = status.indexOf(`\n${name}:`)
  return at < 0 ? '' : status.slice(at + name.length + 2, status.indexOf('\n', at + 1)).trimStart()
}

/**
 * Time of a process on processors, and of all that it started and waited for, in ms, and when it was started, in hundredths of
 * a second since the machine was.
 */
export function timesOf(pid: number): { usedMs: number; endedMs: number; started: number } {
  const stat = readOf(`/proc/${pid}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 20)
  const number = (at: number) => Number(fields[at] ?? 0)
  const [usedMs, endedMs] = [11, 13].map((at) => (number(at) + number(at + 1)) * msOfTick) as [number, number]
  return { usedMs, endedMs, started: number(19) }
}

/** The first that a process of one thread has started and that is there; 0 where there is none, or the kernel does not say. */
export function firstChildOf(pid: number): number {
  return Number.parseInt(readOf(`/proc/${pid}/task/${pid}/children`)) || 0
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

const mostLooks = 20

/**
 * Ends what a launcher has been told to end, and has not. In a jail its own end is the end of all. Elsewhere nobody else may
 * collect them: all below it are halted, as some may fork, then killed, and it goes on, which one of them may have halted.
 */
export async function endBelow(launcher: number, isJail: boolean): Promise<void> {
  if (isJail) return send(launcher, 'SIGKILL')
  const halted = new Set<number>()
  let found: Process[] = []
  for (let look = 0; look < mostLooks; look += 1) {
    found = below(launcher, await processesByParent())
    const running = found.filter(({ pid }) => !halted.has(pid))
    if (running.length === 0) break
    for (const { pid } of running) {
      send(pid, 'SIGSTOP')
      halted.add(pid)
    }
  }
  for (const { pid } of found) send(pid, 'SIGKILL')
  send(launcher, 'SIGCONT')
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has just gone.
  }
}

/** How many files and sockets these processes have open. */
export async function openFiles(processes: Process[], turns = new EventLoopTurns()): Promise<number> {
  let sum = 0
  for (const process of processes) {
    await turns.next()
    sum += openFilesOf(process)
  }
  return sum
}

function openFilesOf({ pid }: Process): number {
  const path = `/proc/${pid}/fd`
  try {
    // Linux before 6.2 does not say it here.
    return statSync(path).size || readdirSync(path).length
  } catch {
    // It has just ended.
    return 0
  }
}

// Whoever reads without one gets 64 KiB for each file, which soon is more to collect than all else.
const buffer = Buffer.allocUnsafeSlow(16384)

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
