import type { Client, ListedModule } from '@automation/client'
import { usageError } from '../exit.ts'
import { all } from './read-team.ts'

/** The path of a process or, for `module:NAME`, of a module, whose versions and aliases are meant. */
export async function ownerPath(client: Client, name: string): Promise<string> {
  if (!name.startsWith('module:')) return `/processes/${encodeURIComponent(name)}`
  const wanted = name.slice('module:'.length)
  const found = (await all<ListedModule>(client, '/modules')).filter(
    (each) => each.name === wanted || each.id === wanted,
  )
  if (found.length === 1) return `/modules/${found[0]!.id}`
  if (found.length === 0)
    throw usageError(`There is no module ${wanted}: "pas modules list" shows those that there are.`)
  throw usageError(
    `There are modules ${wanted} in both languages; name one by its id: ${found.map(({ id }) => id).join(', ')}`,
  )
}
