import { isUuid } from '@automation/contract/forms'
import type { Rows } from './store.ts'

/** Whether a process or a module has a version of this id or tag, or an alias of this name. */
export async function hasVersionOrAlias(rows: Rows, ownerId: string, name: string): Promise<boolean> {
  const version = isUuid(name) ? { ownerId, id: name } : { ownerId, tag: name }
  return (
    (await rows.version.count({ where: version })) > 0 || (await rows.alias.count({ where: { ownerId, name } })) > 0
  )
}
