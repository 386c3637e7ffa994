import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readOf, timesOf } from './processes.ts'

/** How the names of what this process makes for a service of this name begin: no other process makes any like it. */
export function ownPrefix(name: string): string {
  return `${prefixOf(name)}${process.pid}-${birthOf(process.pid)}-`
}

/** What services of this name whose processes have gone have left in a directory. */
export function leftOversIn(directory: string, name: string): string[] {
  if (!existsSync('/proc/self')) return []
  const prefix = prefixOf(name)
  const isLeft = (found: string) => {
    if (!found.startsWith(prefix)) return false
    const [pid, birth] = found.slice(prefix.length).split('-')
    return !existsSync(`/proc/${pid!}`) || birth !== birthOf(Number(pid))
  }
  return readdirSync(directory)
    .filter(isLeft)
    .map((found) => join(directory, found))
}

function prefixOf(name: string): string {
  return `automation-${name}-`
}

/** When a process began, and since which start of the machine: in a container each service has the number of the last. */
function birthOf(pid: number): string {
  const words = `${readOf('/proc/sys/kernel/random/boot_id')} ${timesOf(pid).started}`
  // Short: the path of a socket has an end.
  return createHash('sha256').update(words).digest('hex').slice(0, 6)
}
