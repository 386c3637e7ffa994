import { Failure, invalid } from '@automation/errors'
import type { CreateScheduleRequest } from '@automation/contract/schedule/v1/schedule'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { at, schedule } from './contract-records.ts'
import { PROCESS_ID, SCHEDULE_ID } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())
beforeEach(() => gateway.servers.answers.clear())

const rest = (method: string, path: string, body?: unknown) => gateway.rest(method, path, body)
const create = '/processes/hello/schedule'
const one = `/schedules/${SCHEDULE_ID}`
const utf8 = new TextDecoder()

test('a zone that a caller gives a schedule is ignored as any unknown field, and is warned of', async () => {
  const { warnings, ...made } = (await (
    await rest('POST', create, { cron: '0 8 * * MON', zoneId: 'Nowhere/Else' })
  ).json()) as { warnings: object[] }
  expect(warnings).toEqual([{ path: '/zoneId', message: expect.stringContaining('PATCH /team') }])
  expect(await (await rest('POST', create, { cron: '0 8 * * MON' })).json()).toEqual(made)
  expect(await (await rest('PATCH', one, { zoneId: null })).json()).toMatchObject({ warnings: [{ path: '/zoneId' }] })
})

describe('a schedule', () => {
  test('by a cron has all of its members, and its parameters keep every digit', async () => {
    const text = await (await rest('GET', one)).text()
    expect(text).toContain('"parameters":{"big":12345678901234567890,"one":1.0}')
    expect(JSON.parse(text)).toEqual({
      id: SCHEDULE_ID,
      processId: PROCESS_ID,
      comment: 'weekly',
      parameters: expect.any(Object),
      paused: false,
      type: 'PERIODIC',
      cron: '0 8 * * MON',
      nextExecutionAt: '2026-01-02T03:04:05.678Z',
      settings: { allowConcurrentExecutions: false, agentPoolSlugs: ['default'] },
      createdBy: 'ci',
      createdAt: '2026-01-02T03:04:05.678Z',
    })
  })

  test('shows the settings of its runs, and a callback URL to who may build alone', async () => {
    const settings = { timeoutMs: 45_000, freshProcess: true, callbackUrl: 'https://a.example/?key=k' }
    gateway.servers.answers.set('getSchedule', () => ({ ...schedule, input: { settings } }))
    const seenWith = async (scope: string) => {
      const authorization = `Bearer ${await gateway.servers.token({ scope })}`
      const answer = await gateway.request('GET', `/api/demo/rest${one}`, { headers: { authorization } })
      return ((await answer.json()) as { settings: object }).settings
    }
    const shown = { allowConcurrentExecutions: false, agentPoolSlugs: [], timeout: 45_000, freshProcess: true }
    expect(await seenWith('read')).toEqual(shown)
    expect(await seenWith('read build')).toEqual({ ...shown, callbackUrl: 'https://a.example/?key=k' })
  })

  test('for one time that is paused and was changed shows these', async () => {
    gateway.servers.answers.set('getSchedule', () => ({
      id: SCHEDULE_ID,
      processId: PROCESS_ID,
      versionId: PROCESS_ID,
      when: { case: 'dateTime', value: at },
      paused: true,
      allowConcurrentExecutions: true,
      createdBy: 'ci',
      createdAt: at,
      updatedBy: 'me',
      updatedAt: at,
    }))
    expect(await (await rest('GET', one)).json()).toEqual({
      id: SCHEDULE_ID,
      processId: PROCESS_ID,
      versionId: PROCESS_ID,
      parameters: {},
      paused: true,
      type: 'ONE_TIME',
      dateTime: '2026-01-02T03:04:05.678Z',
      settings: { allowConcurrentExecutions: true, agentPoolSlugs: [] },
      createdBy: 'ci',
      createdAt: '2026-01-02T03:04:05.678Z',
      updatedBy: 'me',
      updatedAt: '2026-01-02T03:04:05.678Z',
    })
  })

  test('in a list lacks parameters that were left out', async () => {
    const listed = [schedule, { ...schedule, input: { comment: 'large' } }]
    gateway.servers.answers.set('listSchedules', () => ({ schedules: listed, page: { total: 2 } }))
    const { data } = (await (await rest('GET', '/schedules')).json()) as { data: object[] }
    expect(data.map((shown) => 'parameters' in shown)).toEqual([true, false])
  })
})

test('filters of schedules reach the service as it wants them', async () => {
  await rest('GET', `/schedules?processId=${PROCESS_ID.toUpperCase()}&keywords=week&page=1&limit=5000`)
  expect(gateway.servers.last('listSchedules')).toMatchObject({
    page: { page: 1, limit: 1000 },
    processId: PROCESS_ID,
    keywords: 'week',
  })
  await rest('GET', '/schedules?processId=')
  expect(gateway.servers.last('listSchedules')).toMatchObject({ processId: '', keywords: '' })
})

describe('a new schedule', () => {
  const created = async (body: unknown) => {
    expect((await rest('POST', create, body)).status).toBe(201)
    return gateway.servers.last<CreateScheduleRequest>('createSchedule')
  }

  test('reaches the service with all that was given, the time as it was written', async () => {
    const settings = { agentPoolSlug: 'default', callbackUrl: 'https://a/b', timeout: 1000, freshProcess: true }
    const input = { tag: 'v1', comment: 'c', settings, parameters: {} }
    const flags = { allowConcurrentExecutions: true, paused: true }
    const request = await created({ dateTime: '2030-01-01T10:00:00', ...flags, input })
    expect(request).toMatchObject({
      process: 'hello',
      dateTime: { text: '2030-01-01T10:00:00' },
      ...flags,
      input: {
        tag: 'v1',
        comment: 'c',
        settings: { agentPool: 'default', callbackUrl: 'https://a/b', timeoutMs: 1000, freshProcess: true },
      },
    })
    expect(request.cron).toBeUndefined()
  })

  test.each([
    ['{"cron":"* * * * *"}', '{}'],
    [
      '{"cron":"* * * * *","input":{"parameters":{"n":1.0,"big":12345678901234567890}}}',
      '{"n":1.0,"big":12345678901234567890}',
    ],
    ['{"cron":"* * * * *","parameters":{"a":1},"input":{"parameters":"{\\"a\\": 1e2}"}}', '{"a": 1e2}'],
    ['{"cron":"* * * * *","input":{"parameters":null}}', '{}'],
  ])('the parameters of %s are %s', async (body, expected) => {
    const { input } = await created(body)
    expect(utf8.decode(input?.parameters)).toBe(expected)
  })

  test('null and "" are as good as absent', async () => {
    const nothing = { tag: '', comment: null, settings: '', parameters: '' }
    for (const input of [nothing, null, undefined]) {
      const flags = { allowConcurrentExecutions: null, paused: null }
      const request = await created({ cron: '* * * * *', dateTime: '', ...flags, input })
      expect(request).toMatchObject({
        cron: '* * * * *',
        allowConcurrentExecutions: false,
        paused: false,
        input: { tag: '' },
      })
      expect([request.dateTime, request.input?.comment]).toEqual([undefined, undefined])
    }
  })
})

describe('what is refused', () => {
  test.each([
    ['/cron', { cron: 5 }],
    ['/cron', { cron: '* * * * *\0' }],
    ['/dateTime', { dateTime: 1_767_225_600 }],
    ['/allowConcurrentExecutions', { allowConcurrentExecutions: 'yes' }],
    ['/paused', { paused: 'true' }],
    ['/paused', { paused: 1 }],
    ['/input', { input: [] }],
    ['/input/parameters', { input: { parameters: '[1]' } }],
    ['/input/parameters', { input: { parameters: '{' } }],
    ['/input/parameters', { input: { parameters: 5 } }],
    ['/input/tag', { input: { tag: 7 } }],
    ['/input/comment', { input: { comment: 'a\0' } }],
    ['/input/settings', { input: { settings: 'x' } }],
    ['/input/settings/timeout', { input: { settings: { timeout: '1s' } } }],
    ['/input/settings/freshProcess', { input: { settings: { freshProcess: 1 } } }],
  ])('%s is named, by POST and by PATCH', async (pointer, body) => {
    const before = gateway.servers.received.length
    for (const [method, path] of [
      ['POST', create],
      ['PATCH', one],
    ] as const) {
      const response = await rest(method, path, body)
      expect(response.status).toBe(400)
      expect((await problemOf(response)).errors?.map((fault) => fault.path)).toEqual([pointer])
    }
    expect(gateway.servers.received).toHaveLength(before)
  })

  test('a process id in a filter that is none', async () => {
    const response = await rest('GET', '/schedules?processId=hello')
    expect([response.status, (await problemOf(response)).errors?.[0]?.path]).toEqual([400, '/processId'])
  })

  test('what the service refuses is told as it is', async () => {
    gateway.servers.answers.set('createSchedule', () => {
      throw invalid('/cron', 'must have five or six fields')
    })
    const refused = await rest('POST', create, { cron: 'x' })
    expect([refused.status, (await problemOf(refused)).errors?.[0]?.path]).toEqual([400, '/cron'])
    gateway.servers.answers.set('updateSchedule', () => {
      throw invalid('/settings/timeout', 'must be from 100')
    })
    const slow = await rest('PATCH', one, { input: { settings: { timeout: 5 } } })
    expect((await problemOf(slow)).errors?.[0]?.path).toBe('/input/settings/timeout')
    gateway.servers.answers.set('pauseSchedule', () => {
      throw new Failure('failed_precondition', 'schedule_paused', 'The schedule is paused')
    })
    const paused = await rest('PUT', `${one}/pause`)
    expect([paused.status, (await problemOf(paused)).code]).toEqual([400, 'schedule_paused'])
  })

  test.each(['/schedules/nope', '/schedules/%00'])('%s can name nothing', async (path) => {
    for (const [method, below] of [
      ['GET', path],
      ['PATCH', path],
      ['DELETE', path],
      ['PUT', `${path}/pause`],
      ['PUT', `${path}/resume`],
    ] as const) {
      const response = await rest(method, below, method === 'PATCH' ? {} : undefined)
      expect([response.status, (await problemOf(response)).code]).toEqual([404, 'schedule_not_found'])
    }
  })
})
