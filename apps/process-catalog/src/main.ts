import { runPart } from '@automation/service'
import { createCatalog, readCatalogConfig } from './service.ts'

await runPart({
  name: 'process-catalog',
  readConfig: readCatalogConfig,
  create: createCatalog,
  ports: { grpc: 9101, health: 9201 },
})
