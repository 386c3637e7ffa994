import { ScheduleUseService } from '@automation/contract/schedule/v1/schedule'
import { serviceContext, until, userContext } from '@automation/testing'
import { v7 } from 'uuid'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { demo, SchedulerUnderTest, soon } from './scheduler-under-test.ts'

let system: SchedulerUnderTest
let processId: string

beforeEach(async () => {
  system = await SchedulerUnderTest.open()
  processId = system.executions.process('report')
})
afterEach(() => system.close())

const uses = () => system.client(ScheduleUseService)
const catalog = (team = 'demo') => serviceContext('process-catalog', team)
const find = (name: string, versionId?: string, team = 'demo') =>
  uses().findScheduleUsers({ processId, name, versionId }, catalog(team))

test('schedules are found by what their runs are runs of, up to five by id and comment', async () => {
  const versionId = v7()
  const make = (tag: string, comment?: string) => system.schedule({ cron: '0 0 * * *', input: { tag, comment } })
  const [live] = [await make('live', `${'x'.repeat(70)}`), await make('LIVE'), await make('')]
  const { users, count } = await find('live')
  expect([users.map(({ id, comment }) => [id, comment]), count]).toEqual([[[live, 'x'.repeat(60)]], 1])
  const many = [await make('v1'), await make(versionId.toUpperCase()), await make(versionId)]
  for (let n = 0; n < 4; n += 1) many.push(await make('v1'))
  const found = await find('v1', versionId)
  expect([found.users.map(({ id }) => id), found.count]).toEqual([many.slice(0, 5), 7])
  expect(await find('live', undefined, 'other')).toMatchObject({ users: [], count: 0 })
})

test('a paused one counts, one that will never fire again does not', async () => {
  const paused = await system.schedule({ cron: '0 0 * * *', input: { tag: 'live' } })
  await system.schedules.pauseSchedule({ id: paused }, demo)
  const once = await system.schedule({ dateTime: soon(1500), input: { tag: 'once' } })
  expect(await find('live')).toMatchObject({ count: 1 })
  expect(await find('once')).toMatchObject({ count: 1 })
  await until(() => system.executions.of(once).length === 1)
  await until(async () => (await find('once')).count === 0)
})

test('only services ask', async () => {
  await expect(uses().findScheduleUsers({ processId, name: 'a' }, userContext('demo'))).rejects.toMatchObject({
    kind: 'permission_denied',
  })
})
