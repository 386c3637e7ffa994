import { runPart } from '@automation/service'
import { createSandboxes, readSandboxConfig } from './service.ts'

await runPart({
  name: 'sandbox',
  readConfig: readSandboxConfig,
  create: createSandboxes,
  ports: { grpc: 9105, health: 9205 },
})
