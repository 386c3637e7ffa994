import { unavailable } from '@automation/errors'
import { openTracer } from '@automation/service'
import { silentLogger, traceReceiver, until, userContext } from '@automation/testing'
import { expect, test } from 'vitest'
import { SchedulerUnderTest } from './scheduler-under-test.ts'

test('the span of a firing tells the failure of a start, and is an error unless what it starts is gone', async () => {
  const receiver = await traceReceiver()
  const tracer = await openTracer({ endpoint: receiver.endpoint, service: 'scheduler', logger: silentLogger })
  const system = await SchedulerUnderTest.open(0)
  await system.replica(tracer)
  const { executions } = system
  executions.process('report')
  const leaving = executions.process('leaving')
  const schedule = async (process: string) => {
    const dateTime = { text: new Date(Date.now() + 1500).toISOString() }
    return (await system.schedules.createSchedule({ process, dateTime }, userContext('demo'))).id
  }
  const [id, gone] = [await schedule('report'), await schedule('leaving')]
  executions.processes.delete(leaving)
  executions.failure = unavailable('away')
  await until(async () => (await system.firings(id))[0]?.explanation === 'away')
  executions.failure = undefined
  await until(async () => (await system.firings(id))[0]?.executionId)
  await until(async () => (await system.firings(gone))[0]?.explanation === 'Process not found')
  await system.close()
  await tracer.close()
  const ends = (schedule: string) =>
    receiver.spans
      .filter(({ name, attributes }) => name === 'firing' && attributes['automation.schedule.id'] === schedule)
      .toSorted((one, two) => one.startMs - two.startMs)
      .map(({ isError, attributes }) => ({ isError, code: attributes['error.type'] }))
  expect(ends(id)[0]).toEqual({ isError: true, code: 'unavailable' })
  expect(ends(id).at(-1)).toEqual({ isError: false, code: undefined })
  expect(ends(gone).at(-1)).toEqual({ isError: false, code: expect.stringMatching(/not_found/) })
  await receiver.close()
})
