import { createLogger } from '@automation/service'
import { until } from '@automation/testing'
import { onTestFinished, test } from 'vitest'
import { supervise } from '../src/services/supervised.ts'

test('a service that the machine could not start is tried again', async () => {
  const { execPath } = process
  process.execPath = '/no/such/program'
  onTestFinished(() => void (process.execPath = execPath))
  const plan = { name: 'scheduler', env: {}, healthUrl: '' } as const
  const service = supervise(plan, { logger: createLogger({ service: 'test', level: 'silent' }), changed: () => {} })
  onTestFinished(() => service.stop(0))
  process.execPath = execPath
  await until(() => service.starts() > 1)
})
