import { type OutgoingHttpHeaders, request } from 'node:http'
import { Status } from '@automation/contract/execution/v1/execution'
import { Failure, invalid, notFound } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { EXECUTION_ID } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests, type RequestOptions } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway({ BODY_MAX_BYTES: '100000' })
})
afterAll(() => gateway.stop())
beforeEach(() => {
  gateway.servers.answers.clear()
  gateway.servers.outcome = {}
  gateway.servers.logs.length = 0
})

const call = (method: string, path = '', { headers, body }: RequestOptions = {}) =>
  gateway.request(method, `/api/demo/webhooks/hello${path}`, { headers: { authorization: '', ...headers }, body })
const post = (body: string, headers: Record<string, string> = {}, path = '') =>
  call('POST', path, { body, headers: { 'content-type': 'application/json', ...headers } })
const utf8 = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)
const requestSeen = () =>
  JSON.parse(utf8(gateway.servers.started.webhook?.request)) as { headers: Record<string, string> } & Record<
    string,
    unknown
  >

describe('what a call starts', () => {
  test('a POST gives its body as parameters, digit by digit, and its request as it came', async () => {
    await post('{"a": 1.0, "big": 12345678901234567890}', { 'x-custom': 'v' }, '?q=1&q=2&async=false&async_response=x')
    expect(utf8(gateway.servers.started.parameters)).toBe('{"a": 1.0, "big": 12345678901234567890}')
    expect(requestSeen()).toMatchObject({
      method: 'POST',
      query: { q: ['1', '2'] },
      rawBody: '{"a": 1.0, "big": 12345678901234567890}',
      headers: { 'x-custom': 'v', 'content-type': 'application/json' },
    })
  })

  // fetch sends no body with a GET.
  const get = (body: string, headers: OutgoingHttpHeaders) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request(`${gateway.base}/api/demo/webhooks/hello?q=1`, { method: 'GET', headers }, (answer) => {
        resolve(answer.resume().statusCode)
      })
      sent.on('error', reject).end(body)
    })

  test.each([
    ['application/json', '{"a":', false],
    ['application/x-www-form-urlencoded', 'a=1', false],
    ['', '{"a":1}', false],
    ['application/octet-stream', 'abc', true],
  ])('a GET has its body as it came, and of the query its parameters: %s', async (type, body, isBase64) => {
    for (const length of [{ 'content-length': String(body.length) }, { 'transfer-encoding': 'chunked' }]) {
      expect(await get(body, { ...(type !== '' && { 'content-type': type }), ...length })).toBe(204)
      const rawBody = isBase64 ? Buffer.from(body).toString('base64') : body
      expect(requestSeen()).toMatchObject({ method: 'GET', query: { q: '1' }, rawBody, ...(isBase64 && { isBase64 }) })
      expect(utf8(gateway.servers.started.parameters)).toBe('{"q":"1"}')
      expect(gateway.servers.started).toMatchObject({
        textualParameters: true,
        webhook: { bodyBytes: BigInt(body.length) },
      })
    }
  })

  test('the body of a GET is bounded as that of a POST; one that is packed is not read', async () => {
    expect(await get('x'.repeat(100_001), { 'content-length': '100001' })).toBe(413)
    expect(await get('\x01'.repeat(90_000), { 'content-type': 'text/plain', 'content-length': '90000' })).toBe(413)
    expect(await get('packed', { 'content-encoding': 'gzip', 'content-length': '6' })).toBe(204)
    expect(requestSeen()).toMatchObject({ rawBody: '' })
  })

  test('what came as texts alone is told apart from JSON, so that the schema of the process says its types', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const multipart = { 'content-type': 'multipart/form-data; boundary=x' }
    const part = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'
    const textual: unknown[] = []
    for (const [method, path, body, headers] of [
      ['GET', '?a=1', undefined, {}],
      ['GET', '', undefined, {}],
      ['GET', '?%61sync=false', undefined, {}],
      ['POST', '', 'a=1', form],
      ['POST', '', part, multipart],
      ['POST', '?a=1', '{"a":"1"}', { 'content-type': 'application/json' }],
    ] as const) {
      await call(method, path, { headers, ...(body !== undefined && { body }) })
      textual.push(gateway.servers.started.textualParameters)
    }
    expect(textual).toEqual([true, false, false, true, true, false])
  })

  test('steering headers become settings and are hidden from the process', async () => {
    await post('{}', {
      'svc-version-tag': 'v1',
      'svc-comment': 'caf\u00c3\u00a9',
      'svc-agent-pool': 'big',
      'svc-initiated-by': 'ada',
      'svc-async': '',
    })
    expect(gateway.servers.started).toMatchObject({
      identifier: 'hello',
      tag: 'v1',
      comment: 'café',
      settings: { agentPool: 'big' },
    })
    expect(gateway.servers.lastContext().principal).toEqual({
      role: 'user',
      team: 'demo',
      subject: 'webhook',
      name: 'webhook',
      initiatedBy: 'ada',
      ip: '127.0.0.1',
    })
    expect(Object.keys(requestSeen().headers).filter((name) => name.startsWith('svc-'))).toEqual([])
  })

  test('a fault of what a header says is told at that header', async () => {
    gateway.servers.answers.set('runExecution', () => {
      throw invalid('/settings/agentPoolSlug', 'is no pool; there is default')
    })
    const { errors } = await problemOf(await post('{}', { 'svc-agent-pool': 'nope' }))
    gateway.servers.answers.delete('runExecution')
    expect(errors).toEqual([{ path: '/Svc-Agent-Pool', message: 'is no pool; there is default' }])
  })

  test('authorization goes to the service beside the request, whatever its form', async () => {
    const basic = `Basic ${Buffer.from('u:p:q').toString('base64')}`
    await post('{}', { authorization: basic })
    expect(gateway.servers.started.webhook).toMatchObject({ username: 'u', password: 'p:q', authorization: basic })
    expect(requestSeen().headers).not.toHaveProperty('authorization')
    await post('{}', { authorization: 'Bearer own' })
    expect(gateway.servers.started.webhook).toMatchObject({ authorization: 'Bearer own' })
    expect(gateway.servers.started.webhook?.username).toBeUndefined()
    expect(requestSeen().headers).not.toHaveProperty('authorization')
  })
})

describe('asynchronous calls', () => {
  test('a flag is read in any case; one that is none is 400', async () => {
    expect((await post('{}', {}, '?async=TRUE')).status).toBe(201)
    expect((await post('{}', {}, '?async=perhaps')).status).toBe(400)
    expect((await post('{}', { 'svc-async': 'perhaps' })).status).toBe(400)
  })
})

test.each([
  ['a body that is no JSON', '{', '', {}],
  ['a flag that is none', '{}', '?async=perhaps', {}],
  ['a header that is none', '{}', '', { 'svc-async': 'perhaps' }],
])('what is wrong with a call is nothing for who may not make it: %s', async (_what, body, path, headers) => {
  expect((await post(body, headers, path)).status).toBe(400)
  for (const refusal of [notFound('webhook'), new Failure('unauthenticated', 'webhook_credentials', 'Wrong')]) {
    gateway.servers.answers.set('checkWebhook', () => {
      throw refusal
    })
    expect(await problemOf(await post(body, headers, path))).toMatchObject({ code: refusal.code })
  }
})

describe('synchronous answers', () => {
  test('what can not be sent is 500 with an ERROR line in the execution', async () => {
    gateway.servers.returns('{"status":200,"headers":{"X-A":"a\\r\\nX-B: b"},"body":""}')
    const response = await post('{}')
    expect(response.status).toBe(500)
    expect(await problemOf(response)).toMatchObject({ code: 'webhook_answer_invalid', executionId: EXECUTION_ID })
    expect(response.headers.get('svc-execution-id')).toBe(EXECUTION_ID)
    expect(gateway.servers.logs).toMatchObject([{ executionId: EXECUTION_ID, level: 4 }])
  })

  test('what was dropped of an answer is in the log in a few short lines, however much it was', async () => {
    const cookies = Array<string>(100).fill(`a=1; Domain=evil${'-'.repeat(400)}.example`)
    gateway.servers.returns(JSON.stringify({ status: 200, headers: { 'set-cookie': cookies }, body: '' }))
    expect((await post('{}')).status).toBe(200)
    expect(gateway.servers.logs).toHaveLength(1)
    const { further } = gateway.servers.logs[0]!
    expect(further).toHaveLength(20)
    expect(further.at(-1)).toBe('And 80 more of this kind')

    gateway.servers.logs.length = 0
    gateway.servers.returns(`{"status":200,"headers":{"Set-Cookie":"a=1; Domain=x${'y'.repeat(50_000)}"},"body":""}`)
    expect((await post('{}')).status).toBe(200)
    expect(gateway.servers.logs[0]?.message).toHaveLength(1024)
  })

  test('an answer waits no longer for what is told of it than for any call', async () => {
    const quick = await startGateway({}, { callTimeoutMs: 500 })
    const deadlines: number[] = []
    const never = (_: never, { deadlineMs = Infinity }: CallContext) => {
      deadlines.push(deadlineMs)
      return new Promise(() => undefined)
    }
    quick.servers.answers.set('appendLogs', never).set('noteWebhookAnswer', never)
    quick.servers.returns('{"status":201,"headers":{"Connection":"x"},"body":"b"}', { transient: true })
    try {
      const response = await quick.request('POST', '/api/demo/webhooks/hello', { headers: { authorization: '' } })
      expect([response.status, await response.text()]).toEqual([201, 'b'])
      expect(deadlines).toHaveLength(2)
      for (const deadlineMs of deadlines) expect(deadlineMs).toBeLessThan(Date.now() + 1000)
    } finally {
      await quick.stop()
    }
  })

  test('an answer does not fail with the line that tells of it', async () => {
    gateway.servers.answers.set('appendLogs', () => {
      throw new Error('away')
    })
    gateway.servers.returns('{"status":200,"headers":{"Connection":"x"},"body":"b"}')
    expect((await post('{}')).status).toBe(200)
  })

  test.each([
    [8, 500, 'Execution failed'],
    [6, 500, 'Execution killed'],
    [7, 429, 'The queue of the team is full'],
    [4, 408, 'Execution still running'],
    [2, 408, 'Execution still waiting'],
  ])('an outcome of status %i is %i', async (status, httpStatus, message) => {
    gateway.servers.outcome = { status, explanation: 'Error: secret', returnValue: undefined }
    const response = await post('{}')
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({ status: httpStatus, message, executionId: EXECUTION_ID })
    expect(text).not.toContain('secret')
    expect(response.status).toBe(httpStatus)
    expect(response.headers.get('svc-execution-id')).toBe(EXECUTION_ID)
    expect(response.headers.has('retry-after')).toBe(httpStatus === 429)
  })

  test('a replay says so', async () => {
    gateway.servers.returns('1', { replayed: true })
    expect((await post('{}', { 'idempotency-key': 'k' })).headers.get('idempotency-replayed')).toBe('true')
    gateway.servers.returns('{"status":999}', { replayed: true })
    const invalid = await post('{}', { 'idempotency-key': 'k' })
    expect([invalid.status, invalid.headers.get('idempotency-replayed')]).toEqual([500, 'true'])
  })

  test.each([
    [Status.ERROR, 500],
    [Status.KILLED, 500],
    [Status.REJECTED, 429],
    [Status.RUNNING, 408],
  ])('a replayed failure says so too: %s', async (status, expected) => {
    gateway.servers.outcome = { status, replayed: true }
    const response = await post('{}', { 'idempotency-key': 'k' })
    expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([expected, 'true'])
  })
})

test('what callers and processes make up makes no series of metrics', async () => {
  for (const status of [418, 422, 450, 499, 599]) {
    gateway.servers.returns(`{"status":${status}}`)
    expect((await post('{}')).status).toBe(status)
  }
  expect((await call('PROPFIND')).status).toBe(405)
  const counts = (await gateway.metrics()).match(/^gateway_request_duration_seconds_count\{.*\}/gm) ?? []
  const labels = (name: string) => new Set(counts.map((line) => new RegExp(`${name}="([^"]*)"`).exec(line)![1]))
  expect([...labels('status')]).toEqual(expect.arrayContaining(['4xx', '422', '499', '5xx']))
  expect([...labels('status')].filter((status) => /418|450|599/.test(status!))).toEqual([])
  expect([...labels('method')]).toContain('OTHER')
  expect([...labels('method')]).not.toContain('PROPFIND')
})
