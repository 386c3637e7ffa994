import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** A process by its pid and the instant it started, so that a pid that is used again is another process. */
export interface ProcessId {
  pid: number
  /** Clock ticks since the machine started. */
  startedAt: string
}

/** One row of the process table. */
export interface ProcessRow extends ProcessId {
  parent: number
  command: string
}

/** Whether this machine shows its processes in /proc (Linux does). */
export const hasProcessTable = existsSync('/proc/self/stat')

/** The process that has this pid now; undefined when there is none, or only its zombie. */
export function processOf(pid: number): ProcessRow | undefined {
  let stat: string
  let command: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return undefined // it ended while it was looked at
  }
  const [state, parent, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (state === 'Z' || state === 'X') return undefined
  return { pid, parent: Number(parent), startedAt: rest[17] ?? '', command }
}

/**
 * The process with this command line that knows itself by this pid, in a namespace of its own or in ours; undefined
 * where none or several are meant.
 */
export function processInside(pid: number, command: RegExp): ProcessRow | undefined {
  const found = processTable().filter((row) => command.test(row.command) && pidInside(row.pid) === pid)
  return found.length === 1 ? found[0] : undefined
}

function pidInside(pid: number): number {
  try {
    return Number(/^NSpid:.*\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? pid)
  } catch {
    return 0 // it ended while it was looked at
  }
}

/** Whether it is this very process that still lives. */
export function isAlive(id: ProcessId): boolean {
  return processOf(id.pid)?.startedAt === id.startedAt
}

/** Every process of the machine that can be seen. */
export function processTable(): ProcessRow[] {
  if (!hasProcessTable) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processOf(Number(name)) ?? [])
}

/** The process and all that descend from it, parents first. */
export function treeOf(root: number): ProcessRow[] {
  const table = processTable()
  const found = table.filter(({ pid }) => pid === root)
  for (const { pid } of found) found.push(...table.filter(({ parent }) => parent === pid))
  return found
}

/** Processes that carry `marker` in the environment they were started with. */
export function processesMarked(marker: string): ProcessRow[] {
  return processTable().filter(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(marker)
    } catch {
      return false // it ended, or belongs to someone else
    }
  })
}
