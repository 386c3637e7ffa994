import { Failure } from '@automation/errors'
import { Environment } from '@automation/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readGatewayConfig } from '../src/service.ts'
import { EXECUTION_ID, ISSUER } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

const json = { 'content-type': 'application/json' }
const rest = (method: string, path: string, body?: unknown) => gateway.rest(method, path, body)

describe('records', () => {
  test('parameters keep every digit, the return value is JSON text', async () => {
    const text = await (await rest('GET', `/executions/${EXECUTION_ID}`)).text()
    expect(text).toContain('"parameters":{"big":12345678901234567890,"one":1.0}')
    expect(JSON.parse(text)).toMatchObject({
      status: 'FINISHED',
      returnValue: '"[transient]"',
      settings: { timeout: 300_000, agentPoolSlug: 'default' },
      timeline: {
        events: [
          { status: 'CREATED', timestamp: '2026-01-02T03:04:05.678Z' },
          {},
          { timestamp: '2026-01-02T03:04:05.678901Z' },
        ],
      },
    })
  })

  test('a log entry has exactly time, level and message', async () => {
    const { data } = (await (await rest('GET', `/executions/${EXECUTION_ID}/logs`)).json()) as { data: unknown[] }
    expect(data).toEqual([{ timestamp: '2023-11-14T22:13:20.123456Z', level: 'WARNING', message: 'careful' }])
  })

  test('a process shows its schema as it was stored and no password', async () => {
    const text = await (await rest('GET', '/processes/hello')).text()
    expect(text).toContain('"parametersSchema":{"type":"object","properties":{"n":{"multipleOf":1.0}}}')
    expect(JSON.parse(text)).toMatchObject({ webhook: { enabled: true, username: 'u' }, updatedAt: expect.any(String) })
    expect(text).not.toContain('password')
  })
})

describe('runs', () => {
  const execute = (path: string, body: string, headers: Record<string, string> = {}) =>
    gateway.request('POST', `/api/demo/rest/processes/hello/${path}`, { body, headers: { ...json, ...headers } })

  test('execute answers 202 with the id and where it is', async () => {
    const response = await execute(
      'execute',
      '{"parameters":{"n":1.0,"big":12345678901234567890},"tag":"","comment":"c","settings":""}',
    )
    expect([response.status, await response.json()]).toEqual([202, { executionId: EXECUTION_ID }])
    expect(response.headers.get('svc-execution-id')).toBe(EXECUTION_ID)
    expect(response.headers.get('location')).toBe(`${ISSUER}/api/demo/rest/executions/${EXECUTION_ID}`)
    const { parameters, ...request } = gateway.servers.last<{ parameters: Uint8Array }>('startExecution')
    expect(new TextDecoder().decode(parameters)).toBe('{"n":1.0,"big":12345678901234567890}')
    expect(request).toMatchObject({ identifier: 'hello', tag: '', comment: 'c' })
    expect(request).not.toHaveProperty('webhook')
  })

  test.each([
    ['', '{}'],
    ['{}', '{}'],
    ['{"parameters":null}', '{}'],
    ['{"parameters":"null"}', '{}'],
    ['{"parameters":" [ ] "}', '{}'],
    ['{"parameters":"{\\"a\\": 1e2}"}', '{"a": 1e2}'],
  ])('the parameters of %s are %s', async (body, expected) => {
    expect((await execute('execute', body)).status).toBe(202)
    const { parameters } = gateway.servers.last<{ parameters: Uint8Array }>('startExecution')
    expect(new TextDecoder().decode(parameters)).toBe(expected)
  })

  test('a call that waits is answered before clients give up, which is after 60 s', () => {
    expect(readGatewayConfig(new Environment({})).syncWaitMaxMs).toBe(55_000)
  })

  test('execute-sync answers 203 with the bare value, without loss', async () => {
    for (const value of ['{"n":1.0}', '"x"', 'null', '12345678901234567890']) {
      gateway.servers.returns(value)
      const response = await execute('execute-sync', '{}')
      expect([response.status, await response.text()]).toEqual([203, value])
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(response.headers.get('svc-execution-id')).toBe(EXECUTION_ID)
    }
  })

  test.each([
    [8, 500, 'execution_failed'],
    [6, 500, 'execution_killed'],
    [7, 429, 'execution_rejected'],
    [4, 408, 'execution_timeout'],
    [2, 408, 'execution_timeout'],
  ])('an outcome of status %i is %i %s', async (status, httpStatus, code) => {
    gateway.servers.outcome = { status, returnValue: undefined, explanation: 'Error: secret' }
    const response = await execute('execute-sync', '{}')
    expect(response.status).toBe(httpStatus)
    expect(response.headers.get('svc-execution-id')).toBe(EXECUTION_ID)
    expect(response.headers.has('retry-after')).toBe(httpStatus === 429)
    const problem = await problemOf(response)
    expect(problem).toMatchObject({ status: httpStatus, code, executionId: EXECUTION_ID })
    expect(JSON.stringify(problem).includes('secret')).toBe(status === 8 || status === 2)
  })

  test.each([
    [
      { explanation: 'TypeError: x is not a function', errorLine: 3 },
      { name: 'TypeError', message: 'x is not a function', line: 3 },
    ],
    [{ explanation: 'MyError: a: b\nc' }, { name: 'MyError', message: 'a: b\nc' }],
    [{ explanation: 'ValueError' }, { name: 'ValueError', message: '' }],
    [
      { explanation: 'runner lost: the run never reached it' },
      { name: 'Error', message: 'runner lost: the run never reached it' },
    ],
  ])('a failure tells who may read the execution what the code has failed with: %j', async (outcome, error) => {
    gateway.servers.outcome = { status: 8, returnValue: undefined, ...outcome }
    expect((await problemOf(await execute('execute-sync', '{}'))).error).toEqual(error)
  })

  test('408 says whether the run waits or runs, and why it waits', async () => {
    gateway.servers.outcome = { status: 2, returnValue: undefined, explanation: 'no runner of the pool default' }
    const waits = await problemOf(await execute('execute-sync', '{}'))
    gateway.servers.outcome = { status: 4, returnValue: undefined }
    const runs = await problemOf(await execute('execute-sync', '{}'))
    expect([waits.detail, runs.detail]).toEqual([
      'Execution still waiting: no runner of the pool default',
      'Execution still running',
    ])
  })

  test('an idempotency key goes along with a digest of the request', async () => {
    const hashOf = async (body: string) => {
      await execute('execute', body, { 'idempotency-key': 'k' })
      return gateway.servers.last<{ idempotencyKey: { key: string; requestHash: Uint8Array } }>('startExecution')
        .idempotencyKey
    }
    const [one, same, other] = [await hashOf('{"tag":"1"}'), await hashOf('{"tag":"1"}'), await hashOf('{"tag":"2"}')]
    expect(one).toMatchObject({ key: 'k' })
    expect(one.requestHash).toEqual(same.requestHash)
    expect(one.requestHash).not.toEqual(other.requestHash)
    expect((await execute('execute', '{}', { 'idempotency-key': 'k'.repeat(256) })).status).toBe(400)
  })

  test('a replay says so; one whose value was not kept is 409', async () => {
    gateway.servers.outcome = { replayed: true }
    const replay = await execute('execute-sync', '{}', { 'idempotency-key': 'k' })
    expect([replay.status, replay.headers.get('idempotency-replayed')]).toEqual([203, 'true'])
    gateway.servers.outcome = { replayed: true, returnValue: undefined }
    const lost = await execute('execute-sync', '{}', { 'idempotency-key': 'k' })
    expect([lost.status, (await problemOf(lost)).code]).toEqual([409, 'result_not_kept'])
  })
})

test('a rerun takes no draft, and does not leave one out in silence', async () => {
  const answer = await rest('POST', `/executions/${EXECUTION_ID}/rerun`, { draft: { sourceCode: 'return 1' } })
  expect([answer.status, (await problemOf(answer)).errors?.[0]?.path]).toEqual([400, '/draft'])
})

test('a service of the release before is not asked for what it would leave out: the call is to be tried again', async () => {
  const id = EXECUTION_ID
  const unknown = () => {
    throw new Failure('unimplemented', 'unimplemented', 'not known')
  }
  for (const [method, call] of [
    ['searchExecutions', () => rest('GET', '/executions?origin=rest')],
    ['searchExecutions', () => rest('GET', `/executions/${id}/children`)],
    ['searchLogs', () => rest('GET', `/executions/${id}/logs?level=ERROR`)],
    ['rerunExecutionOtherwise', () => rest('POST', `/executions/${id}/rerun`, { comment: 'other' })],
    ['rerunExecutionOtherwise', () => rest('POST', `/executions/${id}/replay`, { tag: 'v2' })],
  ] as const) {
    gateway.servers.answers.set(method, unknown)
    const answer = await call()
    gateway.servers.answers.delete(method)
    expect([method, answer.status, (await problemOf(answer)).code]).toEqual([method, 503, 'unavailable'])
  }
  const failures = (await gateway.metrics()).split('\n').filter((line) => line.startsWith('gateway_failures_total{'))
  expect(failures).toContain('gateway_failures_total{route="/api/{team}/rest/executions",code="unavailable"} 1')
  expect(failures.filter((line) => !line.includes('code="unavailable"'))).toEqual([])
  for (const again of ['rerun', 'replay'])
    expect((await rest('POST', `/executions/${id}/${again}`)).status, again).toBe(202)
  expect((await rest('GET', '/executions?status=ERROR&page=1&after=')).status).toBe(200)
})
