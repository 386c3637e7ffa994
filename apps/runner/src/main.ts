import { runPart } from '@automation/service'
import { createRunner, readRunnerConfig } from './service.ts'

await runPart({
  name: 'runner',
  readConfig: readRunnerConfig,
  create: createRunner,
  ports: { health: 9203 },
  key: 'runner',
})
