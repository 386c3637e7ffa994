import { statfsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { directoriesOf } from './cgroup-directories.ts'
import { fieldOf, readOf, type Process } from './processes.ts'

/** What a process holds for itself alone, in bytes. */
export function privateBytes({ pid }: Process): number {
  const [, resident = 0, shared = 0] = pagesOf(pid)
  return (resident - shared) * pageBytes()
}

/** What a process holds, in bytes; of what several share, each has its part. The kernel takes its time for that. */
export async function proportionalBytes({ pid }: Process): Promise<number> {
  // It may have just ended.
  const sums = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1').catch(() => '')
  const [, kilobytes = '0'] = /^Pss:\s+(\d+)/m.exec(sums) ?? []
  return Number(kilobytes) * 1024
}

/**
 * What a process holds and the most that it has held, in bytes; what it shares with others counts in full. Undefined when it
 * has ended.
 */
export function peakOf(pid: number): { residentBytes: number; peakBytes: number } | undefined {
  const status = readOf(`/proc/${pid}/status`)
  const bytes = (name: string) => Number.parseInt(fieldOf(status, name)) * 1024
  const found = { residentBytes: bytes('VmRSS'), peakBytes: bytes('VmHWM') }
  return Number.isNaN(found.peakBytes) ? undefined : found
}

// As statfs(2) names file systems that are in memory.
const tmpfs = 0x01021994

/**
 * What files hold in memory in these directories of a jail, as one of its processes sees them; 0 where that is closed. One
 * that has not gone into its jail yet sees those of the machine, on its disk.
 */
export function fileBytes({ pid }: Process, directories: string[]): number {
  let sum = 0
  for (const directory of directories) {
    try {
      const { type, blocks, bfree, bsize } = statfsSync(`/proc/${pid}/root${directory}`)
      if (type === tmpfs) sum += (blocks - bfree) * bsize
    } catch {
      // It has just ended.
    }
  }
  return sum
}

/** Whether this machine tells what processes hold. */
export function tellsMemory(): boolean {
  return pageBytes() > 0
}

let memoryDirectories: string[] | undefined

/** Of this process's group (cgroup), a pod's for instance. */
function memoryDirectoriesOfGroup(): string[] {
  return (memoryDirectories ??= directoriesOf('memory'))
}

/**
 * The part of its memory that this process's group has in use, from 0 to 1, with what the kernel holds for its processes and
 * without files that it only keeps at hand; 0 where the group has no limit.
 */
export function usedPartOfGroup(): number {
  const limit = process.constrainedMemory()
  if (!(limit > 0 && limit < totalmem())) return 0
  for (const directory of memoryDirectoriesOfGroup()) {
    // As the second and the first kind of groups say it.
    const used = Number(readOf(`${directory}/memory.current`) || readOf(`${directory}/memory.usage_in_bytes`))
    const statistics = readOf(`${directory}/memory.stat`)
    const [, ofAll = ''] = /^(total_)/m.exec(statistics) ?? []
    const bytes = (name: string) => Number(new RegExp(`^${ofAll}${name} (\\d+)`, 'm').exec(statistics)?.[1] ?? 0)
    if (used > 0) return (used - bytes('active_file') - bytes('inactive_file')) / limit
  }
  return 0
}

/** How many processes of this one's group (cgroup), a pod's for instance, the kernel has ended as the group's memory was used up. */
export function endedForMemory(): number {
  // As the second and the first kind of groups say it.
  const files = memoryDirectoriesOfGroup().flatMap((directory) => [
    `${directory}/memory.events`,
    `${directory}/memory.oom_control`,
  ])
  return files.reduce((sum, file) => sum + Number(/^oom_kill (\d+)/m.exec(readOf(file))?.[1] ?? 0), 0)
}

/** A field of statm: 1 resident, 2 shared. */
function pagesOf(pid: number | 'self'): number[] {
  return readOf(`/proc/${pid}/statm`).split(' ').map(Number)
}

let knownPageBytes: number | undefined

/** The size of a memory page; 0 where there is no /proc. */
function pageBytes(): number {
  const pages = () => pagesOf('self')[1] ?? 0
  return (knownPageBytes ??= pages() === 0 ? 0 : 2 ** Math.round(Math.log2(process.memoryUsage.rss() / pages())))
}

/** Bytes that this machine has, or this process may hold where that is less: a pod has less than its node. */
export function ownMemoryBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity)
}
