import { runPart } from '@automation/service'
import { createStorage, readStorageConfig } from './service.ts'

await runPart({
  name: 'storage',
  readConfig: readStorageConfig,
  create: createStorage,
  ports: { grpc: 9104, health: 9204 },
})
