import { describe, expect, test } from 'vitest'
import type { Execution, Page, Schedule } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { expectProblem } from './problem.ts'
import { makeProcess, publish } from './runs.ts'
import { doneBy, inMs, makeSchedule, patchSchedule, scheduleOf, yearly } from './scheduling.ts'
import { client, unique } from './shared-system.ts'

const patience = { timeoutMs: 60_000 }
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
      tag: 'v1',
      versionId,
      comment: 'weekly',
      parameters: { a: [1, { b: null }] },
      paused: false,
      type: 'PERIODIC',
      cron: '0 30 8 * * MON-FRI',
      nextExecutionAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:30:00\.000Z$/),
      settings: { allowConcurrentExecutions: true, agentPoolSlugs: ['default'], timeout: 5000 },
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
})

describe('lists of schedules', () => {
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
    expect(rest).toEqual({ ...made, comment: 'new', settings: { ...made.settings, timeout: 6000 } })
    expect([updatedBy, updatedAt]).toEqual([made.createdBy, expect.stringMatching(/Z$/)])
    expect(await patchSchedule(made, { allowConcurrentExecutions: true })).toMatchObject({
      comment: 'new',
      settings: { allowConcurrentExecutions: true, agentPoolSlugs: ['default'] },
    })
    expect(await scheduleOf(made)).toMatchObject({ comment: 'new', parameters: { a: 1 } })
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

  test('goes along with other changes in one call', async () => {
    const made = await makeSchedule(await makeProcess(), { cron: yearly })
    const change = { cron: '30 8 * * *', paused: true }
    const paused = await patchSchedule(made, change)
    expect(paused).toMatchObject(change)
    expect(paused).not.toHaveProperty('nextExecutionAt')
    expect(await patchSchedule(made, { paused: true, input: { comment: 'still' } })).toMatchObject({
      ...change,
      comment: 'still',
    })
    const resumed = await patchSchedule(made, { paused: false })
    expect(resumed).toMatchObject({ paused: false, nextExecutionAt: expect.stringMatching(/T08:30:00\.000Z$/) })
    expect(await scheduleOf(made)).toEqual(resumed)
    const path = `/schedules/${made.id}`
    const { headers } = await client.get(path)
    const turn = (paused: boolean) =>
      client.call('PATCH', path, { json: { paused }, headers: { 'if-match': headers.get('etag') ?? '' } })
    expect((await turn(true)).status).toBe(200)
    expectProblem(await turn(false), 412, { code: 'changed_meanwhile' })
  })

  test('is refused where it is told by no boolean, and changes nothing then', async () => {
    const process = await makeProcess()
    const made = await makeSchedule(process, { cron: yearly })
    const fault = { code: 'invalid_input', path: '/paused' }
    for (const paused of ['true', 1, []]) {
      expectProblem(await client.post(`/processes/${process.id}/schedule`, { cron: yearly, paused }), 400, fault)
      expectProblem(await client.patch(`/schedules/${made.id}`, { cron: '30 8 * * *', paused }), 400, fault)
    }
    expect((await list({ processId: process.id })).body.data).toEqual([made])
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

describe('when schedules are due', () => {
  test('is seen before one is made, with what the clocks of a zone do then', async () => {
    const preview = { dateTime: '2050-03-27T02:30:00', zoneId: 'Europe/Berlin' }
    const { status, body } = await client.post('/schedules/preview', preview)
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        zoneId: 'Europe/Berlin',
        times: [{ at: '2050-03-27T01:00:00.000Z', local: '2050-03-27T03:00:00', note: 'gap' }],
      },
    })
    const { body: cron } = await client.post<{ times: unknown[] }>('/schedules/preview', { cron: yearly, count: 3 })
    expect(cron.times).toHaveLength(3)
    const never = await client.post('/schedules/preview', { cron: '0 0 30 2 *' })
    expectProblem(never, 400, { code: 'invalid_input', path: '/cron' })
    expect((await client.get('/schedules/preview')).status).toBe(405)
  })

  test('is on a calendar of all of them, which is refused where it is too much', async ({ onTestFinished }) => {
    const process = await makeProcess()
    const schedule = await makeSchedule(process, { dateTime: '2070-06-01T12:00:00Z' })
    const between = (from: string, to: string) => client.get<unknown[]>('/schedules/firings', { from, to })
    const { body } = await between('2070-06-01T11:59:55Z', '2070-06-01T12:00:05Z')
    const { slug: processSlug } = process
    const nominalAt = '2070-06-01T12:00:00.000Z'
    expect(body).toContainEqual({ scheduleId: schedule.id, processSlug, nominalAt, state: 'coming' })
    const often = await makeSchedule(process, { cron: '* * * * * *' })
    onTestFinished(async () => {
      await client.delete(`/schedules/${often.id}`)
    })
    expectProblem(await between('2050-01-01', '2051-01-01'), 400, { code: 'too_many_firings' })
    expectProblem(await client.get('/schedules/firings'), 400, { code: 'invalid_input' })
  })
})

test('a schedule is run by hand, and its firings are listed', async () => {
  const process = await makeProcess({ sourceCode: 'return svc.context.parameters' })
  await publish(process, { tag: 'v1' })
  const schedule = await makeSchedule(process, { cron: yearly, input: { parameters: { a: 1 }, tag: 'v1' } })
  const started = await client.post<Execution>(`/schedules/${schedule.id}/run`)
  expect(started.status, started.text).toBe(201)
  const { versionId } = schedule
  expect(started.body).toMatchObject({
    scheduledId: schedule.id,
    parameters: { a: 1 },
    processId: process.id,
    versionId,
  })
  const { body } = await client.get<Page<object>>(`/schedules/${schedule.id}/firings`)
  const executionId = started.body.id
  expect(body.data).toMatchObject([
    { scheduleId: schedule.id, processSlug: process.slug, state: 'started', executionId },
  ])
})

test('a schedule shows its tag, and the version that an alias names when it is read', async () => {
  const process = await makeProcess()
  const [one, two] = [await publish(process, { tag: 'v1' }), await publish(process, { tag: 'v2' })]
  const aliases = `/processes/${process.id}/aliases`
  const { body: alias } = await client.post<{ id: string }>(aliases, { name: 'live', versionId: one.id })
  const schedule = await makeSchedule(process, { cron: yearly, input: { tag: 'live' } })
  expect(schedule).toMatchObject({ tag: 'live', versionId: one.id })
  await client.patch(`${aliases}/${alias.id}`, { versionId: two.id })
  expect(await scheduleOf(schedule)).toMatchObject({ tag: 'live', versionId: two.id })
  const [listed] = (await list({ processId: process.id })).body.data
  expect(listed).toMatchObject({ tag: 'live', versionId: two.id })
})
