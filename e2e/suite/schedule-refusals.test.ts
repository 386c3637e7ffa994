import { describe, expect, test } from 'vitest'
import type { Process, Schedule } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { makeProcess } from './runs.ts'
import { makeSchedule, scheduleOf, yearly } from './scheduling.ts'
import { client, unique } from './shared-system.ts'

const create = ({ id }: Process, input: object) => client.post(`/processes/${id}/schedule`, input)
const patch = ({ id }: Schedule, input: object) => client.patch(`/schedules/${id}`, input)
const past = '2020-01-01T00:00:00Z'

describe('a schedule is refused, and names what is wrong', () => {
  test.for([
    ['/cron', { cron: 5 }],
    ['/cron', { cron: 'daily' }],
    ['/cron', { cron: '* * * *' }],
    ['/cron', { cron: '* * * * * * *' }],
    ['/cron', { cron: '60 * * * *' }],
    ['/cron', { cron: '* 24 * * *' }],
    ['/cron', { cron: '* * 0 * *' }],
    ['/cron', { cron: '* * * 13 *' }],
    ['/cron', { cron: '*/0 * * * *' }],
    ['/cron', { cron: '5-1 * * * *' }],
    ['/cron', { cron: '* * * * FOO' }],
    ['/cron', { cron: '0 0 30 2 *' }],
    ['/cron', { cron: '\0' }],
    ['/dateTime', { dateTime: 'tomorrow' }],
    ['/dateTime', { dateTime: '2031-02-30T00:00:00Z' }],
    ['/dateTime', { dateTime: past }],
    ['/dateTime', { dateTime: 1_767_225_600_000 }],
    ['/dateTime', { cron: yearly, dateTime: '2031-01-01T00:00:00Z' }],
    ['/allowConcurrentExecutions', { cron: yearly, allowConcurrentExecutions: 'yes' }],
    ['/input', { cron: yearly, input: 'x' }],
    ['/input/parameters', { cron: yearly, input: { parameters: '[1]' } }],
    ['/input/parameters', { cron: yearly, input: { parameters: '{' } }],
    ['/input/comment', { cron: yearly, input: { comment: {} } }],
    ['/input/settings/agentPoolSlug', { cron: yearly, input: { settings: { agentPoolSlug: 'none' } } }],
    ['/input/settings/timeout', { cron: yearly, input: { settings: { timeout: 99 } } }],
    ['/input/settings/timeout', { cron: yearly, input: { settings: { timeout: '5000' } } }],
    ['/input/settings/callbackUrl', { cron: yearly, input: { settings: { callbackUrl: 'ftp://a/b' } } }],
    ['/input/settings/freshProcess', { cron: yearly, input: { settings: { freshProcess: 1 } } }],
  ] as const)('%s of %j', async ([path, input]) => {
    const process = await makeProcess()
    expectProblem(await create(process, input), 400, { path })
    const made = await makeSchedule(process, { cron: '0 12 * * *', input: { comment: 'kept' } })
    expectProblem(await patch(made, input), 400, { path })
    expect(await scheduleOf(made)).toEqual(made)
  })

  test('with neither a cron nor a dateTime', async () => {
    const process = await makeProcess()
    expectProblem(await create(process, {}), 400, { path: '/cron' })
    expectProblem(await create(process, { cron: null, dateTime: '' }), 400, { path: '/cron' })
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

  test('for a process that is not there', async () => {
    for (const identifier of [unique(), crypto.randomUUID(), 'a%20b'])
      expectProblem(await client.post(`/processes/${identifier}/schedule`, { cron: yearly }), 404, {
        code: 'process_not_found',
      })
  })

  test('where its id is none, or nobody has it', async () => {
    for (const id of ['x', '%00', '0190a0b0-0000-7000-8000-00000000000g', crypto.randomUUID()]) {
      const path = `/schedules/${id}`
      for (const answer of [
        await client.get(path),
        await client.patch(path, {}),
        await client.delete(path),
        await client.put(`${path}/pause`),
        await client.put(`${path}/resume`),
      ])
        expectProblem(answer, 404, { code: 'schedule_not_found' })
    }
  })
})
