import { AuditType } from '@automation/contract/audit/v1/audit'
import { Failure, unavailable } from '@automation/errors'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { at, auditRecord } from './contract-records.ts'
import { EXECUTION_ID, noProcess, PROCESS_ID } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway({ BODY_MAX_BYTES: '100000' })
})
afterAll(() => gateway.stop())
beforeEach(() => gateway.servers.answers.clear())

const rest = (method: string, path: string, body?: unknown) => gateway.rest(method, path, body)
const fails = (method: string, failure: Failure) =>
  gateway.servers.answers.set(method, () => {
    throw failure
  })

test.each(['/dependencies/JAVASCRIPT/rollback', '/dependencies/JAVASCRIPT/installs/rollback'])(
  'a rollback of packages is taken at %s, as either is what the interface can be read to name',
  async (path) => {
    const { status, errors } = await problemOf(await rest('POST', path, {}))
    expect([status, errors?.map((error) => error.path)]).toEqual([400, ['/installId']])
  },
)

describe('sources in lists', () => {
  test.each(['process', 'version'])('of a %s: an empty one is there, one that was left out is not', async (kind) => {
    const listed = [{ sourceCode: '' }, {}].map((one) => ({ id: PROCESS_ID, createdBy: 'ci', createdAt: at, ...one }))
    gateway.servers.answers.set('listProcesses', () => ({ processes: listed }))
    gateway.servers.answers.set('listVersions', () => ({ versions: listed }))
    const path = kind === 'process' ? '/processes' : '/processes/hello/versions'
    const { data } = (await (await rest('GET', path)).json()) as { data: { sourceCode?: string }[] }
    expect(data.map(({ sourceCode }) => sourceCode)).toEqual(['', undefined])
  })

  test('a process that nobody has changed was last changed by who made it', async () => {
    gateway.servers.answers.set('getProcess', () => ({ id: PROCESS_ID, createdBy: 'ci', createdAt: at }))
    expect(await (await rest('GET', '/processes/hello')).json()).toMatchObject({ createdBy: 'ci', updatedBy: 'ci' })
  })
})

describe('conventions', () => {
  test('a list has its five members, and a limit above 1000 is 1000', async () => {
    const list = (await (await rest('GET', '/processes?page=2&limit=5000&tags=a,b&tags=c&keywords=k')).json()) as object
    expect(list).toMatchObject({ hasNextPage: true, page: 2, limit: 1000, total: 11 })
    expect(Object.keys(list)).toEqual(['hasNextPage', 'page', 'limit', 'total', 'data'])
    expect(gateway.servers.last('listProcesses')).toMatchObject({
      page: { page: 2, limit: 1000 },
      keywords: 'k',
      tags: ['a,b', 'a', 'b', 'c'],
    })
  })

  test('filters of executions reach the service as it wants them', async () => {
    await rest(
      'GET',
      `/executions?status=ERROR&processId=${PROCESS_ID.toUpperCase()}&from=2026-01-01T00:00:00&comment=c`,
    )
    expect(gateway.servers.last('listExecutions')).toMatchObject({
      status: 8,
      processId: PROCESS_ID,
      from: { seconds: 1_767_225_600n, nanos: 0 },
      comment: 'c',
      keywords: '',
    })
  })

  test('filters of audit events reach the service as it wants them, and an event comes back whole', async () => {
    const query = 'type=TOKEN&entityId=sa-demo-00000000&from=2026-01-01T00:00:00Z&to=&limit=5'
    const list = (await (await rest('GET', `/audit-events?${query}`)).json()) as { data: object[] }
    expect(gateway.servers.last('listAuditRecords')).toMatchObject({
      page: { page: 0, limit: 5 },
      type: AuditType.TOKEN,
      entityId: 'sa-demo-00000000',
      from: { seconds: 1_767_225_600n, nanos: 0 },
    })
    const { id, event, entityId, user } = auditRecord
    const createdAt = '2026-01-02T03:04:05.678Z'
    expect(list.data).toEqual([{ id, type: 'TOKEN', event, entityId, user, createdAt }])
  })

  test.each([
    ['GET', '/audit-events?type=NOPE', '/type'],
    ['GET', '/audit-events?from=yesterday', '/from'],
    ['GET', '/audit-events?to=x', '/to'],
    ['GET', '/audit-events?entityId=%00', '/entityId'],
    ['GET', '/executions?status=NOPE', '/status'],
    ['GET', '/executions?from=yesterday', '/from'],
    ['GET', '/executions?processId=x', '/processId'],
    ['GET', '/executions?keywords=%00', '/keywords'],
    ['GET', `/executions/${EXECUTION_ID}/logs?limit=0`, '/limit'],
    ['GET', '/variables?page=-1', '/page'],
    ['POST', '/processes/hello/versions', '/tag'],
    ['POST', '/variables', '/key'],
    ['PATCH', '/team', '/errorHandlerConfig', { errorHandlerConfig: 'hello' }],
    ['PATCH', '/team', '/errorHandlerConfig/processSlug', { errorHandlerConfig: { processSlug: 5 } }],
    ['PATCH', '/team', '/zoneId', { zoneId: 3 }],
    ['POST', '/processes/hello/execute', '/parameters', { parameters: '[1]' }],
    ['POST', '/processes/hello/execute', '/parameters', { parameters: '{' }],
    ['POST', '/processes/hello/execute', '/parameters', { parameters: 5 }],
    ['POST', '/processes/hello/execute', '/settings/timeout', { settings: { timeout: 'x' } }],
    ['POST', '/processes/hello/execute', '/comment', { comment: 'a\0' }],
  ])('%s %s is refused with the pointer %s', async (method, path, pointer, body: unknown = {}) => {
    const before = gateway.servers.received.length
    const response = await rest(method, path, method === 'GET' ? undefined : body)
    expect(response.status).toBe(400)
    expect((await problemOf(response)).errors?.map((fault) => fault.path)).toContain(pointer)
    expect(gateway.servers.received).toHaveLength(before)
  })

  test('what is given twice in a query is told to be given once', async () => {
    const { errors } = await problemOf(await rest('GET', '/variables?page=0&page=1'))
    expect(errors).toEqual([{ path: '/page', message: 'must be given once' }])
  })

  test.each([{}, { tag: null }, { processSlug: null, tag: 'v1' }])(
    'the error handler of a team that has none names its process: %j',
    async (errorHandlerConfig) => {
      const patched = async () => {
        const response = await rest('PATCH', '/team', { errorHandlerConfig })
        return [response.status, (await problemOf(response)).errors?.[0]?.path]
      }
      expect(await patched()).toEqual([400, '/errorHandlerConfig/processSlug'])
      const { answers } = gateway.servers
      answers.set('getTeam', () => ({ slug: 'demo', createdAt: at, errorHandlerConfig: { processSlug: 'mends' } }))
      expect(await patched()).toEqual([200, undefined])
    },
  )

  test.each([
    ['/executions/nope', 'execution_not_found'],
    ['/executions/nope/logs', 'execution_not_found'],
    ['/processes/a%20b', 'process_not_found'],
    ['/processes/%00', 'process_not_found'],
    ['/processes/x/versions/%2F', 'version_not_found'],
    ['/processes/x/aliases/live', 'alias_not_found'],
    ['/nothing', 'not_found'],
    ['/schedules/nope', 'schedule_not_found'],
    ['/processes/', 'not_found'],
  ])('what can name nothing is 404: %s', async (path, code) => {
    const response = await rest('GET', path)
    expect([response.status, (await problemOf(response)).code]).toEqual([404, code])
  })

  test('a problem has all of its members', async () => {
    gateway.servers.answers.set('getProcess', noProcess)
    const response = await gateway.request('GET', '/api/demo/rest/processes/x?secret=1', {
      headers: { 'x-request-id': 'abc-1' },
    })
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(response.headers.get('x-request-id')).toBe('abc-1')
    expect(await problemOf(response)).toEqual({
      type: 'about:blank',
      title: 'Not Found',
      status: 404,
      detail: 'Process not found',
      instance: '/api/demo/rest/processes/x',
      message: 'Process not found',
      code: 'process_not_found',
      requestId: 'abc-1',
    })
  })

  test.each([
    ['a b', false],
    ['x'.repeat(200), false],
    ['ok_1.2:3', true],
  ])('the request id %s is taken: %s', async (id, taken) => {
    const response = await gateway.request('GET', '/livez', { headers: { 'x-request-id': id } })
    expect(response.headers.get('x-request-id') === id).toBe(taken)
  })

  test('trace context, initiator and address travel with the call', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await gateway.request('GET', '/api/demo/rest/team', {
      headers: { traceparent, 'svc-initiated-by': 'jos\u00c3\u00a9' },
    })
    expect(gateway.servers.lastContext()).toMatchObject({
      traceparent,
      principal: {
        role: 'user',
        team: 'demo',
        subject: 'sa-demo-abcdefgh',
        name: 'ci',
        scope: 'executor',
        initiatedBy: 'josé',
        ip: '127.0.0.1',
      },
    })
  })

  test.each([
    [unavailable('The database is away', new Error('ECONNREFUSED 10.0.0.7'), 3), 503, '3'],
    [new Failure('resource_exhausted', 'too_many_attempts', 'Later', { retryAfterS: 30 }), 429, '30'],
    [new Failure('deadline_exceeded', 'deadline_exceeded', 'Too slow'), 504, '1'],
    [new Failure('already_exists', 'idempotency_key_reused', 'Reused'), 409, null],
    [new Failure('failed_precondition', 'execution_ended', 'Ended'), 400, null],
    [new Failure('too_large', 'parameters_too_large', 'Large'), 413, null],
    [new Failure('unimplemented', 'python_not_yet', 'Later'), 501, null],
  ])('%s', async (failure, status, retryAfter) => {
    fails('getTeam', failure)
    const response = await rest('GET', '/team')
    expect(response.status).toBe(status)
    expect(response.headers.get('retry-after')).toBe(retryAfter)
    expect(await response.text()).not.toContain('10.0.0.7')
  })

  test('what is thrown and no Failure shows nothing of itself', async () => {
    gateway.servers.answers.set('getTeam', () => {
      throw new Error('SELECT secret FROM teams')
    })
    const response = await rest('GET', '/team')
    expect(response.status).toBe(500)
    expect(await problemOf(response)).toMatchObject({ code: 'internal_error', message: 'Internal error' })
  })

  test('another method than a path has is 405 with what it has', async () => {
    const response = await rest('PUT', '/processes')
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS')
    expect((await problemOf(response)).code).toBe('method_not_allowed')
    expect((await gateway.request('POST', '/livez')).status).toBe(405)
  })

  test('a process whose slug an address has that came later is changed and deleted by it', async () => {
    const before = gateway.servers.received.length
    expect((await rest('PATCH', '/processes/summaries', { name: 'x' })).status).toBe(200)
    expect((await rest('DELETE', '/processes/summaries')).status).toBe(200)
    expect(gateway.servers.received.slice(before).map(({ request }) => request)).toMatchObject([
      { identifier: 'summaries' },
      { identifier: 'summaries' },
    ])
    expect((await rest('PUT', '/processes/summaries')).status).toBe(405)
    // The document has no other here.
    expect((await rest('OPTIONS', '/processes/summaries')).headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  })

  test('an operation that wants JSON refuses another type, also of nothing', async () => {
    for (const body of ['name=a', ''])
      expect(
        await problemOf(
          await gateway.request('POST', '/api/demo/rest/processes', {
            headers: { 'content-type': 'text/plain' },
            body,
          }),
        ),
      ).toMatchObject({ status: 415 })
  })

  test('HEAD answers as GET does, without a body', async () => {
    const response = await rest('HEAD', '/team')
    expect([response.status, await response.text()]).toEqual([200, ''])
  })
})
