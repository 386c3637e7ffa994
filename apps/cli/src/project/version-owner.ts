import type { Call, Client, ListedVersionedModule, Pages, PublishProcessInput } from '@automation/client'
import type { VersionedModule, VersionedProcess } from '@automation/client'
import { usageError } from '../exit.ts'
import { all } from './read-team.ts'

/** A version; one of a module has a source alone. */
export type PublishedVersion = VersionedModule &
  Partial<Pick<VersionedProcess, 'readme' | 'parametersSchema' | 'manifest'>>

/** A process or a module: it publishes versions, and has aliases that lead to them. */
export interface VersionOwner {
  /** Names it in calls for versions and aliases. */
  id: string
  versions: {
    list(owner: string): Pages<ListedVersionedModule>
    get(owner: string, version: string): Call<PublishedVersion>
    publish(owner: string, input: PublishProcessInput): Call<PublishedVersion>
    delete(owner: string, version: string): Call<void>
  }
  aliases: Pick<Client['processes']['aliases'], 'list' | 'get' | 'create' | 'update' | 'delete'>
}

/** What is at a path of the server's items: `/processes/ID` or `/modules/ID`. */
export function versionOwnerAt(client: Client, path: string): VersionOwner {
  const [, noun, id = ''] = path.split('/')
  return noun === 'modules' ? { id, ...published(client.modules) } : { id, ...published(client.processes) }
}

/** The process of a slug or, for `module:NAME`, the module of a name or an id. */
export async function versionOwnerOf(client: Client, name: string): Promise<VersionOwner> {
  if (!name.startsWith('module:')) return { id: name, ...published(client.processes) }
  return { id: await moduleId(client, name.slice('module:'.length)), ...published(client.modules) }
}

/** The id of a module that a command line names by its name or its id. */
export async function moduleId(client: Client, name: string): Promise<string> {
  const found = (await all(client.modules.list())).filter((each) => each.name === name || each.id === name)
  if (found.length === 1) return found[0]!.id
  if (found.length === 0) throw usageError(`There is no module ${name}: "pas modules list" shows those that there are.`)
  throw usageError(
    `There are modules ${name} in both languages; name one by its id: ${found.map(({ id }) => id).join(', ')}`,
  )
}

const published = ({ versions, aliases }: Pick<VersionOwner, 'versions' | 'aliases'>) => ({ versions, aliases })
