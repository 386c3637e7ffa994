import { tellsMemory } from '@automation/jail'
import { silentLogger, until } from '@automation/testing'
import { expect, test } from 'vitest'
import { Limits, type LimitedSandbox } from '../src/drivers/local/limits.ts'

test.runIf(tellsMemory())('a look that fails is followed by the next one', async () => {
  const own: LimitedSandbox = { id: 'own', memoryMb: 1, jail: { pid: process.ppid, directory: undefined } }
  const exceeded: string[] = []
  let looks = 0
  const limits = new Limits({
    homeMb: 1,
    // More than the processes that are always there: any is too many.
    maxProcesses: -100,
    sandboxes: () => {
      if (looks++ === 0) throw new Error('EMFILE')
      return [own]
    },
    exceeded: (id) => void exceeded.push(id),
    logger: silentLogger,
  })
  limits.start()
  await until(() => exceeded.length > 0)
  await limits.stop()
  expect(exceeded[0]).toBe('own')
})
