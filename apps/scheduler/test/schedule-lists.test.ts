import { userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SchedulerUnderTest } from './scheduler-under-test.ts'

let system: SchedulerUnderTest

beforeAll(async () => {
  system = await SchedulerUnderTest.open()
  system.executions.process('report')
})
afterAll(() => system.close())

const team = 'demo'
const me = () => userContext(team)
const create = (input: { parameters: Buffer; comment?: string }) =>
  system.schedules.createSchedule({ process: 'report', cron: '0 3 * * *', input }, me())

test('a team has no more schedules than it may, however many are made at once', async () => {
  const strict = await SchedulerUnderTest.open(1, { TEAM_LIMITS: 'schedules=3' })
  strict.executions.process('report')
  const make = () => strict.schedules.createSchedule({ process: 'report', cron: '0 3 * * *' }, me())
  const made = await Promise.allSettled(Array.from({ length: 8 }, make))
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  await expect(make()).rejects.toMatchObject({
    kind: 'failed_precondition',
    code: 'limit_reached',
    message:
      'The team has 3 schedules, and may have no more: delete some, or ask the operator to raise schedules in TEAM_LIMITS',
  })
  await strict.schedules.createSchedule({ process: 'report', cron: '0 3 * * *' }, userContext('other'))
  await strict.close()
})

test('lists leave out parameters above 64 KiB', async () => {
  const parameters = Buffer.from(JSON.stringify({ text: 'x'.repeat(65_536) }))
  const { id } = await create({ parameters })
  const [listed] = (await system.schedules.listSchedules({}, me())).schedules
  expect(listed!.input!.parameters).toHaveLength(0)
  expect((await system.get(id, team)).input!.parameters).toEqual(parameters)
})

test('a page of many large parameters has all its schedules, and is bounded in bytes', async () => {
  const parameters = Buffer.from(JSON.stringify({ text: 'x'.repeat(60_000) }))
  await create({ parameters, comment: 'kept' })
  const more = `INSERT INTO schedules SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).*
                  FROM schedules s, generate_series(1, 199) WHERE s.comment = 'kept'`
  await system.sql.query(more)
  const { schedules, page } = await system.schedules.listSchedules(
    { keywords: 'kept', page: { page: 0, limit: 1000 } },
    me(),
  )
  expect(schedules).toHaveLength(200)
  expect(page).toMatchObject({ total: 200, hasNextPage: false })
  expect(schedules.every(({ input }) => input!.parameters.length === 0 && input!.comment === 'kept')).toBe(true)
})
