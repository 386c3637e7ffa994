import { DatastoreService } from '@automation/contract/storage/v1/datastore'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { createObjectStore } from '@automation/objects'
import { served } from '@automation/rpc'
import { RunTokens } from '@automation/rpc/run-token'
import { Periodic, type Part, type PartContext } from '@automation/service'
import { askerReader } from './callers.ts'
import type { StorageConfig } from './config.ts'
import { Datastore } from './datastore.ts'
import { Objects } from './objects.ts'
import { datastoreService } from './rpc/datastore-service.ts'
import { storageService } from './rpc/storage-service.ts'
import { SignedUrls } from './signed-urls.ts'
import { Store } from './store/store.ts'
import { Sweeper } from './sweeper.ts'
import { Uploads } from './uploads.ts'

export { storageSchema } from './store/store.ts'
export { readStorageConfig, type StorageConfig } from './config.ts'

/** Storage: the objects of teams, and the values that their runs share. Calls no other service. */
export function createStorage(config: StorageConfig, { logger }: PartContext): Part {
  const objects = createObjectStore(config.objects)
  const store = new Store(config.databaseUrl, logger)
  const sweeper = new Sweeper({ store, objects, graceMs: config.replacedGraceMs })
  const sweeping = new Periodic('removing contents', config.sweepEveryMs, logger, (signal) => sweeper.sweep(signal))
  const uploads = new Uploads({ config, store, objects, logger, abandoned: () => sweeping.soon() })
  const signedUrls = new SignedUrls(config.publicUrl, config.encryptionKeys)
  const kept = new Objects({ store, objects, sweeper, signedUrls, logger })
  const askerOf = askerReader(new RunTokens(config.internalKey))
  const datastore = new Datastore(store, config.teamMaxKeys)
  const stopping = new AbortController()

  return {
    name: 'storage',
    serves: [
      served(StorageService, storageService(kept, uploads, askerOf)),
      served(DatastoreService, datastoreService(datastore, askerOf)),
    ],
    async start() {
      await objects.open()
      await store.open(stopping.signal)
      sweeping.start()
    },
    async stop() {
      stopping.abort()
      await uploads.close()
      await sweeping.stop()
      await store.close()
      await objects.close()
    },
    async ready() {
      return [await store.check(), await objects.check()]
    },
  }
}
