import { Status } from '@automation/contract/execution/v1/execution'
import { Environment } from '@automation/service'
import { until, userContext } from '@automation/testing'
import { expect, test } from 'vitest'
import { readExecutionConfig } from '../src/service.ts'
import { brokenInvariants } from './invariants.ts'
import { System } from './system.ts'
import { Watched } from './watched.ts'

const needed = { DATABASE_URL: 'postgres://localhost/x', INTERNAL_KEY: 'for tests' }

test('WAITING_STATUS is QUEUED unless it is CREATED, and nothing else', () => {
  const read = (more: Record<string, string>) => {
    const env = new Environment({ ...needed, ...more })
    const { waitingStatus } = readExecutionConfig(env)
    env.check()
    return waitingStatus
  }
  expect(read({})).toBe('QUEUED')
  expect(read({ WAITING_STATUS: 'CREATED' })).toBe('CREATED')
  expect(() => read({ WAITING_STATUS: 'RUNNING' })).toThrow('WAITING_STATUS')
})

test('where runs that wait for a slot are shown as CREATED, the filter finds them by both words, and the timeline says QUEUED', async () => {
  const system = await System.start({ waitingStatus: 'CREATED' })
  try {
    const id = await system.start()
    const shown = await system.get(id)
    expect(shown.status).toBe(Status.CREATED)
    expect(shown.timeline.map(({ status }) => status)).toEqual([Status.CREATED, Status.QUEUED])
    const found = async (status: Status) =>
      (await system.executions.listExecutions({ status }, userContext('demo'))).executions
    for (const word of [Status.CREATED, Status.QUEUED])
      expect(await found(word)).toMatchObject([{ id, status: Status.CREATED }])
    for (const word of [Status.RUNNING, Status.FINISHED]) expect(await found(word)).toEqual([])
    const reader = new Watched(system.replicas[0]!, id)
    await reader.has('QUEUED')
    const runner = await system.runner({ runs: () => undefined })
    await until(async () => (await system.get(id)).status === Status.RUNNING)
    expect(await found(Status.CREATED)).toEqual([])
    await runner.run(id)
    runner.finish(id)
    await reader.done
    expect(reader.observed).toEqual(['CREATED', 'QUEUED', 'DEQUEUED', 'RUNNING', 'FINISHED', 'end FINISHED'])
    expect((await found(Status.FINISHED)).map((one) => one.id)).toEqual([id])
    expect(await brokenInvariants(system)).toEqual([])
  } finally {
    await system.stop()
  }
})
