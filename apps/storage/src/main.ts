import { migrate } from '@automation/database'
import { runPart } from '@automation/service'
import { createStorage, readStorageConfig, storageSchema } from './service.ts'

await runPart({
  name: 'storage',
  readConfig: readStorageConfig,
  create: createStorage,
  ports: { grpc: 9104, health: 9204 },
  migrate: (url, logger, signal) => migrate({ ...storageSchema, url, logger, signal }),
})
