import { DatastoreService } from '@automation/contract/storage/v1/datastore'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { text } from '../../rest/fields.ts'
import { onePage, pagingFields, presentPage } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { datastoreEntryRecord, presentDatastoreEntry } from './record.ts'

/** What the runs of a team keep in the datastore. */
export function datastoreRoutes(api: RestApi, neighbours: Neighbours): void {
  const datastore = neighbours.client(DatastoreService)

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/datastore',
      tag: 'Storage',
      summary: 'List what runs keep in the datastore, by key',
      query: z.object({
        prefix: text().optional().openapi({ description: 'Keys that begin with it' }),
        ...pagingFields,
      }),
      success: onePage('keys', 'DatastorePaginatedResult', datastoreEntryRecord),
    },
    async ({ query, context }) => {
      const { page, limit, prefix = '' } = query
      const list = await datastore.listEntries({ page: { page, limit }, prefix }, context)
      return { body: presentPage(query, list.page, list.entries.map(presentDatastoreEntry)) }
    },
  )
}
