import { AuditType } from '@automation/contract/audit/v1/audit'
import { unavailable } from '@automation/errors'
import { refusal, until, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SchedulerUnderTest } from './scheduler-under-test.ts'

const ann = userContext('demo', { name: 'Ann', initiatedBy: 'ann@example.com', ip: '192.0.2.7' })
const yearly = { process: 'hello', cron: '0 0 1 1 *' }
let system: SchedulerUnderTest
beforeAll(async () => {
  system = await SchedulerUnderTest.open()
  system.executions.process('hello')
})
afterAll(() => system.close())

test('what is done to a schedule is told once each, with who did it, and nothing that is refused', async () => {
  const { schedules, audit } = system
  const { id } = await schedules.createSchedule(yearly, ann)
  await schedules.pauseSchedule({ id }, ann)
  expect(await refusal(schedules.pauseSchedule({ id }, ann))).toBe('schedule_paused')
  await schedules.resumeSchedule({ id }, ann)
  await schedules.updateSchedule({ id, cron: '0 0 2 1 *', mask: { paths: ['cron'] } }, ann)
  for (const paused of [true, true, false])
    await schedules.updateSchedule({ id, paused, mask: { paths: ['paused'] } }, ann)
  await refusal(schedules.deleteSchedule({ id }, userContext('other')))
  await schedules.deleteSchedule({ id }, ann)
  expect(await refusal(schedules.deleteSchedule({ id }, ann))).toBe('schedule_not_found')
  const changes = ['paused', 'updated', 'resumed']
  const words = ['created', 'paused', 'resumed', 'updated', ...changes, 'deleted']
  await until(() => audit.of(id).length === words.length)
  expect(audit.of(id)).toEqual(words.map((word) => `${word} by Ann`))
  for (const record of audit.records(id))
    expect(record).toMatchObject({
      ...{ type: AuditType.SCHEDULE, team: 'demo', initiatedBy: 'ann@example.com', ip: '192.0.2.7' },
    })
})

test('while the catalog is away nothing waits, and later each is told once', async () => {
  const { schedules, audit } = system
  audit.failure = unavailable('away')
  const { id } = await schedules.createSchedule(yearly, ann)
  await schedules.deleteSchedule({ id }, ann)
  expect(audit.of(id)).toEqual([])
  audit.failure = undefined
  await until(() => audit.of(id).length === 2)
  expect(audit.of(id)).toEqual(['created by Ann', 'deleted by Ann'])
})
