import { migrate } from '@automation/database'
import { runPart } from '@automation/service'
import { createSandboxes, readSandboxConfig, sandboxSchema } from './service.ts'

await runPart({
  name: 'sandbox',
  readConfig: readSandboxConfig,
  create: createSandboxes,
  service: 'sandbox',
  migrate: (url, logger, signal) => migrate({ ...sandboxSchema, url, logger, signal }),
})
