import {
  ApiError,
  type Client,
  type Module,
  type Process,
  type ProgrammingLanguageManifest,
  type Schedule,
  type Team,
  type TeamVariable,
} from '@automation/client'
import {
  moduleItem,
  moduleState,
  packagesItem,
  processItem,
  processState,
  scheduleItem,
  scheduleState,
  teamItem,
  variableItem,
  type ServerItem,
} from './server-items.ts'
import type { Item } from './states.ts'

/** An item as it was read alone, with the tag of that state where it has one. */
export interface ReadItem extends ServerItem {
  etag?: string
}

/** Reads what the server has at a path of an item like `like`; undefined where there is nothing. */
export async function readItem(
  client: Client,
  path: string,
  like: Pick<Item, 'kind' | 'key' | 'name'>,
): Promise<ReadItem | undefined> {
  const read = await client.request<unknown>('GET', path).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  })
  if (read === undefined) return undefined
  const etag = read.response.headers.get('ETag')
  return { ...itemFrom(read.data, like), ...(etag !== null && { etag }) }
}

function itemFrom(data: unknown, { kind, key, name }: Pick<Item, 'kind' | 'key' | 'name'>): ServerItem {
  switch (kind) {
    case 'process':
      return processItem(data as Process, processState(data as Process)!)
    case 'module':
      return moduleItem(data as Module, moduleState(data as Module)!)
    case 'variable':
      return variableItem(data as TeamVariable)
    case 'packages':
      return packagesItem(data as ProgrammingLanguageManifest)
    case 'schedule':
      return scheduleItem(key.split('/')[1]!, name, data as Schedule, scheduleState(data as Schedule))
    case 'team':
      return teamItem(data as Team)
  }
}
