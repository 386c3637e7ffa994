import type { DatastoreEntry } from '@automation/contract/storage/v1/datastore'
import { z } from '@hono/zod-openapi'
import { RawJson } from '../../http/json.ts'
import { int32, moment } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'

export const datastoreEntryRecord = z
  .object({
    key: z.string(),
    size: int32().openapi({ minimum: 0, description: 'Of the value as JSON, in bytes' }),
    value: z.unknown().optional().openapi({ description: 'Any JSON; absent where it has more than 1 KiB' }),
    updatedAt: moment(),
  })
  .openapi('DatastoreEntry', { example: { key: 'last-invoice', size: 4, value: 4711, updatedAt: samples.at } })

/** A key of the datastore as JSON. */
export function presentDatastoreEntry(entry: DatastoreEntry): z.input<typeof datastoreEntryRecord> {
  const { key, size, value, updatedAt } = entry
  return { key, size, value: value === undefined ? undefined : new RawJson(value), updatedAt: presentTime(updatedAt) }
}
