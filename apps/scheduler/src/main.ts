import { migrate } from '@automation/database'
import { runPart } from '@automation/service'
import { createScheduler, readSchedulerConfig, schedulerSchema } from './service.ts'

await runPart({
  name: 'scheduler',
  readConfig: readSchedulerConfig,
  create: createScheduler,
  service: 'scheduler',
  migrate: (url, logger, signal) => migrate({ ...schedulerSchema, url, logger, signal }),
})
