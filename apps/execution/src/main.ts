import { runPart } from '@automation/service'
import { createExecution, readExecutionConfig } from './service.ts'

await runPart({
  name: 'execution',
  readConfig: readExecutionConfig,
  create: createExecution,
  ports: { grpc: 9102, health: 9202 },
})
