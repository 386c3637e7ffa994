import { migrate } from '@automation/database'
import { runPart } from '@automation/service'
import { createStorage, readStorageConfig, storageSchema } from './service.ts'

await runPart({
  name: 'storage',
  readConfig: readStorageConfig,
  create: createStorage,
  service: 'storage',
  migrate: (url, logger, signal) => migrate({ ...storageSchema, url, logger, signal }),
})
