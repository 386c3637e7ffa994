import { migrate } from '@automation/database'
import { runPart } from '@automation/service'
import { createExecution, executionSchema, readExecutionConfig } from './service.ts'

await runPart({
  name: 'execution',
  readConfig: readExecutionConfig,
  create: createExecution,
  service: 'execution',
  migrate: (url, logger, signal) => migrate({ ...executionSchema, url, logger, signal }),
})
