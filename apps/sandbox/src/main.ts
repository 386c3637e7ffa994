import { migrate } from '@automation/database'
import { runPart } from '@automation/service'
import { createSandboxes, readSandboxConfig, sandboxSchema } from './service.ts'

await runPart({
  name: 'sandbox',
  readConfig: readSandboxConfig,
  create: createSandboxes,
  ports: { grpc: 9105, health: 9205 },
  migrate: (url, logger, signal) => migrate({ ...sandboxSchema, url, logger, signal }),
})
