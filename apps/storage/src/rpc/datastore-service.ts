import type { DatastoreService } from '@automation/contract/storage/v1/datastore'
import type { Handlers } from '@automation/rpc'
import type { ReadAsker } from '../callers.ts'
import type { Datastore } from '../datastore.ts'

/** Small values that the runs of a team share. */
export function datastoreService(datastore: Datastore, askerOf: ReadAsker): Handlers<typeof DatastoreService> {
  return {
    async getValue({ key }, context) {
      return { value: await datastore.get(askerOf(context).team, key) }
    },

    async setValue({ key, value }, context) {
      await datastore.set(askerOf(context).team, key, value)
      return {}
    },

    async deleteValue({ key }, context) {
      return { existed: await datastore.delete(askerOf(context).team, key) }
    },

    async listKeys({ prefix }, context) {
      return { keys: await datastore.keys(askerOf(context).team, prefix) }
    },
  }
}
