import { Status } from '@automation/contract/execution/v1/execution'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXECUTION_ID } from './contract-servers.ts'
import { startGateway, type GatewayForTests, type RequestOptions } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway({ BODY_MAX_BYTES: '100000' })
})
afterAll(() => gateway.stop())

const call = (method: string, path = '', { headers, body }: RequestOptions = {}) =>
  gateway.request(method, `/api/demo/webhooks/hello${path}`, { headers: { authorization: '', ...headers }, body })

describe('refusals', () => {
  test.each([
    ['{', { 'content-type': 'application/json' }, 400],
    ['x'.repeat(100_001), { 'content-type': 'text/plain' }, 413],
    ['x', { 'content-encoding': 'gzip' }, 415],
    ['x', { 'content-type': 'multipart/form-data' }, 400],
    ['[]'.padStart(5000, '[').padEnd(9998, ']'), { 'content-type': 'application/json' }, 400],
  ])('%#', async (body, headers, status) => {
    const response = await call('POST', '', { body, headers })
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
  })
})

describe('browsers', () => {
  const preflight = { origin: 'https://app.test', 'access-control-request-method': 'POST' }

  test('without configured origins nothing is granted', async () => {
    const response = await call('OPTIONS', '', { headers: preflight })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, null])
  })

  test('configured origins may call, others not', async () => {
    const open = await startGateway({ CORS_ORIGINS: 'https://app.test' })
    const ask = (origin: string, method = 'OPTIONS', path = '/api/demo/webhooks/hello') =>
      open.request(method, path, { headers: { ...preflight, origin, 'access-control-request-headers': 'x-a' } })
    try {
      const granted = await ask('https://app.test')
      expect(granted.status).toBe(204)
      // The request that it asks about goes the same way.
      expect(granted.headers.get('connection')).toBe('keep-alive')
      expect(granted.headers.get('access-control-allow-origin')).toBe('https://app.test')
      expect(granted.headers.get('access-control-allow-headers')).toBe('x-a')
      expect((await ask('https://else.test')).headers.has('access-control-allow-origin')).toBe(false)
      for (const path of ['/api/demo/webhooks/hello', '/api/demo/rest/team'])
        expect((await ask('https://app.test', 'GET', path)).headers.get('access-control-allow-origin')).toBe(
          'https://app.test',
        )
      expect(open.servers.received.filter((one) => one.method === 'runExecution')).toHaveLength(1)
      const returnValue = Buffer.from('{"status":200,"headers":{"Vary":"Accept-Language"}}')
      open.servers.answers.set('runExecution', () => ({ executionId: 'x', status: Status.FINISHED, returnValue }))
      expect((await ask('https://app.test', 'GET')).headers.get('vary')).toBe('Origin, Accept-Language')
    } finally {
      await open.stop()
    }
  })
})

test('the header prefix is configurable, for requests, answers and the document', async () => {
  const other = await startGateway({ HEADER_PREFIX: 'Acme-' })
  try {
    const response = await other.request('POST', '/api/demo/webhooks/hello', { headers: { 'acme-async': 'true' } })
    expect([response.status, response.headers.get('acme-execution-id')]).toEqual([201, EXECUTION_ID])
    const document = await (await other.request('GET', '/openapi.json')).text()
    expect(document).toContain('Acme-Initiated-By')
    expect(document).not.toContain('Svc-')
  } finally {
    await other.stop()
  }
})
