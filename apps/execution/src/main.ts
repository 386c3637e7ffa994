import { migrate } from '@automation/database'
import { runPart } from '@automation/service'
import { createExecution, executionSchema, readExecutionConfig } from './service.ts'

await runPart({
  name: 'execution',
  readConfig: readExecutionConfig,
  create: createExecution,
  ports: { grpc: 9102, health: 9202 },
  migrate: (url, logger, signal) => migrate({ ...executionSchema, url, logger, signal }),
})
