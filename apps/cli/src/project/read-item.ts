import { ApiError, type Client } from '@automation/client'
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
import type { Item, Language } from './states.ts'

/** An item as it was read alone, with the tag of that state where it has one. */
interface ReadItem extends ServerItem {
  etag?: string
}

/** Reads what the server has at a path of an item like `like`; undefined where there is nothing. */
export async function readItem(
  client: Client,
  path: string,
  like: Pick<Item, 'kind' | 'key' | 'name'>,
): Promise<ReadItem | undefined> {
  const read = await readRecord(client, idIn(path), like).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  })
  if (read === undefined) return undefined
  const etag = read.response.headers.get('ETag')
  return { ...read.item, ...(etag !== null && { etag }) }
}

/** The id of a record by its path, such as `/processes/ID`. */
export function idIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

async function readRecord(
  client: Client,
  id: string,
  { kind, key, name }: Pick<Item, 'kind' | 'key' | 'name'>,
): Promise<{ item: ServerItem; response: Response }> {
  switch (kind) {
    case 'process': {
      const { data, response } = await client.processes.get(id).withResponse()
      return { item: processItem(data, processState(data)!), response }
    }
    case 'module': {
      const { data, response } = await client.modules.get(id).withResponse()
      return { item: moduleItem(data, moduleState(data)!), response }
    }
    case 'variable': {
      const { data, response } = await client.variables.get(id).withResponse()
      return { item: variableItem(data), response }
    }
    case 'packages': {
      const { data, response } = await client.dependencies.get(id as Language).withResponse()
      return { item: packagesItem(data), response }
    }
    case 'schedule': {
      const { data, response } = await client.schedules.get(id).withResponse()
      return { item: scheduleItem(key.split('/')[1]!, name, data, scheduleState(data)), response }
    }
    case 'team': {
      const { data, response } = await client.team.get().withResponse()
      return { item: teamItem(data), response }
    }
  }
}
