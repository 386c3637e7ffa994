import { describe, expect, test } from 'vitest'
import type { Process, Schedule } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { makeProcess } from './runs.ts'
import { makeSchedule, scheduleOf, yearly } from './scheduling.ts'
import { client } from './shared-system.ts'

const create = ({ id }: Process, input: object) => client.post(`/processes/${id}/schedule`, input)
const patch = ({ id }: Schedule, input: object) => client.patch(`/schedules/${id}`, input)
const past = '2020-01-01T00:00:00Z'

describe('a schedule is refused, and names what is wrong', () => {
  test.for([
    ['/cron', { cron: 'daily' }],
    ['/dateTime', { dateTime: past }],
    ['/input/settings/agentPoolSlug', { cron: yearly, input: { settings: { agentPoolSlug: 'none' } } }],
    ['/input/settings/timeout', { cron: yearly, input: { settings: { timeout: 99 } } }],
    ['/input/settings/callbackUrl', { cron: yearly, input: { settings: { callbackUrl: 'ftp://a/b' } } }],
  ] as const)('%s of %j', async ([path, input]) => {
    const process = await makeProcess()
    expectProblem(await create(process, input), 400, { path })
    const made = await makeSchedule(process, { cron: '0 12 * * *', input: { comment: 'kept' } })
    expectProblem(await patch(made, input), 400, { path })
    expect(await scheduleOf(made)).toEqual(made)
  })

  test('with parameters above the limit', async () => {
    const parameters = { large: 'x'.repeat(1_100_000) }
    expectProblem(await create(await makeProcess(), { cron: yearly, input: { parameters } }), 413)
  })

  test('with a tag that names nothing', async () => {
    const process = await makeProcess()
    const made = await makeSchedule(process, { cron: yearly })
    for (const tag of ['none', crypto.randomUUID()]) {
      const input = { cron: yearly, input: { tag } }
      expectProblem(await create(process, input), 404, { code: 'version_not_found' })
      expectProblem(await patch(made, input), 404, { code: 'version_not_found' })
    }
    expect(await scheduleOf(made)).toEqual(made)
  })
})
