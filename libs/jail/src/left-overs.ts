import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** How the names of what a service of this name makes begin; the number of its process follows, and a dash. */
export function prefixOf(name: string): string {
  return `automation-${name}-`
}

/** What services of this name whose processes have gone have left in a directory. */
export function leftOversIn(directory: string, name: string): string[] {
  if (!existsSync('/proc/self')) return []
  const prefix = prefixOf(name)
  const isLeft = (found: string) =>
    found.startsWith(prefix) && !existsSync(`/proc/${found.slice(prefix.length).split('-')[0]!}`)
  return readdirSync(directory)
    .filter(isLeft)
    .map((found) => join(directory, found))
}
