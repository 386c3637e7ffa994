import { migrate } from '@automation/database'
import { runPart } from '@automation/service'
import { catalogSchema, createCatalog, readCatalogConfig, readFirstTeam } from './service.ts'

await runPart({
  name: 'process-catalog',
  readConfig: (env) => ({ ...readCatalogConfig(env), firstTeam: readFirstTeam(env) }),
  create: createCatalog,
  service: 'catalog',
  migrate: (url, logger, signal) => migrate({ ...catalogSchema, url, logger, signal }),
})
