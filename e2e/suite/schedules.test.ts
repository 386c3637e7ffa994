import { describe, expect, test } from 'vitest'
import type { Page, Schedule } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { expectProblem } from './problem.ts'
import { makeProcess, publish } from './runs.ts'
import { doneBy, inMs, makeSchedule, patchSchedule, scheduleOf, yearly } from './scheduling.ts'
import { client, hasOther, other, unique } from './shared-system.ts'

const patience = { timeoutMs: 10_000 }
const list = (query: Record<string, string | number>) => client.get<Page<Schedule>>('/schedules', query)
const idsOf = async (query: Record<string, string | number>) => (await list(query)).body.data.map(({ id }) => id)

describe('a schedule', () => {
  test('by a cron is made with all of its fields, and reads the same', async () => {
    const process = await makeProcess()
    const { id: versionId } = await publish(process, { tag: 'v1' })
    const schedule = await makeSchedule(process, {
      cron: '0 30 8 * * MON-FRI',
      allowConcurrentExecutions: true,
      input: {
        parameters: '{"a": [1, {"b": null}]}',
        tag: 'v1',
        comment: 'weekly',
        settings: { agentPoolSlug: 'default', timeout: 5000 },
      },
    })
    expect(schedule).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      processId: process.id,
      versionId,
      comment: 'weekly',
      parameters: { a: [1, { b: null }] },
      paused: false,
      type: 'PERIODIC',
      cron: '0 30 8 * * MON-FRI',
      nextExecutionAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:30:00\.000Z$/),
      settings: { allowConcurrentExecutions: true, agentPoolSlugs: ['default'] },
      createdBy: expect.stringMatching(/\S/),
      createdAt: expect.stringMatching(/Z$/),
    })
    expect(Date.parse(schedule.nextExecutionAt ?? '')).toBeGreaterThan(Date.now() - 1000)
    expect(await scheduleOf(schedule)).toEqual(schedule)
  })

  test('for one time has that time, and comes then', async () => {
    const dateTime = '2031-01-31T10:00:00+02:00'
    const schedule = await makeSchedule(await makeProcess(), { dateTime })
    expect(schedule).toMatchObject({
      type: 'ONE_TIME',
      dateTime: '2031-01-31T08:00:00.000Z',
      nextExecutionAt: '2031-01-31T08:00:00.000Z',
      parameters: {},
      settings: { allowConcurrentExecutions: false, agentPoolSlugs: [] },
    })
    expect(schedule).not.toHaveProperty('cron')
    expect(schedule).not.toHaveProperty('comment')
    expect(schedule).not.toHaveProperty('versionId')
  })

  test('is made by the slug of its process, and null and "" are as good as absent', async () => {
    const { slug, id } = await makeProcess()
    const input = { tag: '', comment: null, settings: '', parameters: null }
    const answer = await client.post<Schedule>(`/processes/${slug}/schedule`, { cron: yearly, dateTime: null, input })
    expect(answer.status, answer.text).toBe(201)
    expect(answer.body).toMatchObject({ processId: id, parameters: {} })
  })

  test.for(['0 8 * * 1,3', '*/15 * * * *', '0 0 L * *', '5 4 * JAN SUN', '0 */10 9-17 * * *', '0 0 29 2 *'])(
    'takes the cron %s',
    async (cron) => {
      expect(await makeSchedule(await makeProcess(), { cron })).toMatchObject({ cron, type: 'PERIODIC' })
    },
  )

  test('in a list lacks parameters above 64 KiB, which a single read has', async () => {
    const process = await makeProcess()
    const parameters = { large: 'x'.repeat(70_000) }
    const schedule = await makeSchedule(process, { cron: yearly, input: { parameters } })
    expect((await scheduleOf(schedule)).parameters).toEqual(parameters)
    const [listed] = (await list({ processId: process.id })).body.data
    expect(listed).toMatchObject({ id: schedule.id })
    expect(listed).not.toHaveProperty('parameters')
  })
})

describe('lists of schedules', () => {
  test('are in pages, newest first, and know the process', async () => {
    const process = await makeProcess()
    const made: Schedule[] = []
    for (const comment of ['1', '2', '3']) made.push(await makeSchedule(process, { cron: yearly, input: { comment } }))
    const { body } = await list({ processId: process.id, limit: 2 })
    expect(body).toEqual({ hasNextPage: true, page: 0, limit: 2, total: 3, data: [made[2], made[1]] })
    const rest = (await list({ processId: process.id, limit: 2, page: 1 })).body
    expect(rest).toEqual({ hasNextPage: false, page: 1, limit: 2, total: 3, data: [made[0]] })
    expectProblem(await list({ limit: 0 }), 400, { path: '/limit' })
    expectProblem(await list({ processId: 'x' }), 400, { path: '/processId' })
  })

  test('keywords find the comment and the name of the process, also after a rename', async () => {
    const [before, after, comment] = [unique('Before'), unique('After'), unique('About')]
    const process = await makeProcess({ name: before })
    const { id } = await makeSchedule(process, { cron: yearly, input: { comment } })
    expect(await idsOf({ keywords: before.toLowerCase() })).toEqual([id])
    expect(await idsOf({ keywords: comment.toUpperCase() })).toEqual([id])
    expect((await client.patch(`/processes/${process.id}`, { name: after })).status).toBe(200)
    await waitUntil('the new name', async () => (await idsOf({ keywords: after })).length > 0, patience)
    expect(await idsOf({ keywords: after })).toEqual([id])
    expect(await idsOf({ keywords: before })).toEqual([])
  })

  test.skipIf(!hasOther)('hold nothing of another team, whose schedules are not found', async () => {
    const process = await makeProcess({}, other)
    const { id } = await makeSchedule(process, { cron: yearly }, other)
    expect(await idsOf({ processId: process.id })).toEqual([])
    const path = `/schedules/${id}`
    expectProblem(await client.get(path), 404, { code: 'schedule_not_found' })
    expectProblem(await client.patch(path, { cron: yearly }), 404, { code: 'schedule_not_found' })
    expectProblem(await client.put(`${path}/pause`), 404, { code: 'schedule_not_found' })
    expectProblem(await client.put(`${path}/resume`), 404, { code: 'schedule_not_found' })
    expectProblem(await client.delete(path), 404, { code: 'schedule_not_found' })
    const create = `/processes/${process.id}/schedule`
    expectProblem(await client.post(create, { cron: yearly }), 404, { code: 'process_not_found' })
    expect((await other.get(path)).status).toBe(200)
  })
})

describe('changing a schedule', () => {
  test('what is given replaces what was there, the input and its settings field by field', async () => {
    const process = await makeProcess()
    const settings = { agentPoolSlug: 'default', timeout: 5000 }
    const made = await makeSchedule(process, {
      cron: yearly,
      input: { comment: 'old', parameters: { a: 1 }, settings },
    })
    const changed = await patchSchedule(made, { input: { comment: 'new', settings: { timeout: 6000 } } })
    const { updatedBy, updatedAt, ...rest } = changed
    expect(rest).toEqual({ ...made, comment: 'new' })
    expect([updatedBy, updatedAt]).toEqual([made.createdBy, expect.stringMatching(/Z$/)])
    expect(await patchSchedule(made, { allowConcurrentExecutions: true })).toMatchObject({
      comment: 'new',
      settings: { allowConcurrentExecutions: true, agentPoolSlugs: ['default'] },
    })
    expect(await scheduleOf(made)).toMatchObject({ comment: 'new', parameters: { a: 1 } })
  })

  test('null clears what may be empty', async () => {
    const process = await makeProcess()
    await publish(process, { tag: 'v1' })
    const input = { comment: 'c', tag: 'v1', parameters: { a: 1 }, settings: { agentPoolSlug: 'default' } }
    const made = await makeSchedule(process, { cron: yearly, input })
    const changed = await patchSchedule(made, { input: { comment: null, tag: null, parameters: null, settings: null } })
    expect(changed).toMatchObject({ parameters: {}, settings: { agentPoolSlugs: [] } })
    expect(changed).not.toHaveProperty('comment')
    expect(changed).not.toHaveProperty('versionId')
  })

  test('a dateTime makes a cron schedule one for one time, and the other way round', async () => {
    const made = await makeSchedule(await makeProcess(), { cron: yearly })
    const once = await patchSchedule(made, { dateTime: '2031-01-01T00:00:00Z' })
    expect(once).toMatchObject({ type: 'ONE_TIME', nextExecutionAt: '2031-01-01T00:00:00.000Z' })
    expect(once).not.toHaveProperty('cron')
    const again = await patchSchedule(made, { cron: '0 12 * * *', dateTime: null })
    expect(again).toMatchObject({ type: 'PERIODIC', cron: '0 12 * * *', nextExecutionAt: expect.stringContaining('T') })
    expect(again).not.toHaveProperty('dateTime')
  })

  test('one that is paused stays so', async () => {
    const made = await makeSchedule(await makeProcess(), { cron: yearly })
    await doneBy(client.put(`/schedules/${made.id}/pause`))
    const changed = await patchSchedule(made, { cron: '0 12 * * *' })
    expect(changed).toMatchObject({ paused: true, cron: '0 12 * * *' })
    expect(changed).not.toHaveProperty('nextExecutionAt')
  })
})

describe('pausing and resuming', () => {
  test('a paused schedule comes never, a resumed one as it did before', async () => {
    const made = await makeSchedule(await makeProcess(), { cron: yearly })
    await doneBy(client.put(`/schedules/${made.id}/pause`))
    const paused = await scheduleOf(made)
    expect(paused.paused).toBe(true)
    expect(paused).not.toHaveProperty('nextExecutionAt')
    await doneBy(client.put(`/schedules/${made.id}/resume`))
    expect(await scheduleOf(made)).toMatchObject({ paused: false, nextExecutionAt: made.nextExecutionAt })
  })

  test('pausing a paused and resuming an active one is refused', async () => {
    const { id } = await makeSchedule(await makeProcess(), { cron: yearly })
    expectProblem(await client.put(`/schedules/${id}/resume`), 400, { code: 'schedule_active' })
    await doneBy(client.put(`/schedules/${id}/pause`))
    expectProblem(await client.put(`/schedules/${id}/pause`), 400, { code: 'schedule_paused' })
  })

  test('one whose only time has passed meanwhile is not resumed', async () => {
    const made = await makeSchedule(await makeProcess(), { dateTime: inMs(1500) })
    await doneBy(client.put(`/schedules/${made.id}/pause`))
    await waitUntil('its time', async () => Date.now() - Date.parse(made.dateTime ?? '') > 200, patience)
    expectProblem(await client.put(`/schedules/${made.id}/resume`), 400, { path: '/dateTime' })
    expect((await scheduleOf(made)).paused).toBe(true)
  })
})

describe('deleting', () => {
  test('a deleted schedule is gone', async () => {
    const { id } = await makeSchedule(await makeProcess(), { cron: yearly })
    const path = `/schedules/${id}`
    await doneBy(client.delete(path))
    for (const answer of [
      await client.get(path),
      await client.patch(path, {}),
      await client.put(`${path}/pause`),
      await client.put(`${path}/resume`),
      await client.delete(path),
    ])
      expectProblem(answer, 404, { code: 'schedule_not_found' })
  })

  test('the schedules of a deleted process go with it', async () => {
    const process = await makeProcess()
    const made = [
      await makeSchedule(process, { cron: yearly }),
      await makeSchedule(process, { dateTime: inMs(60_000) }),
    ]
    expect((await client.delete(`/processes/${process.id}`)).status).toBe(200)
    for (const { id } of made) expectProblem(await client.get(`/schedules/${id}`), 404, { code: 'schedule_not_found' })
    expect(await idsOf({ processId: process.id })).toEqual([])
  })
})
