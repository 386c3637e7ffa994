import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXECUTION_ID } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway({ BODY_MAX_BYTES: '100000' })
})
afterAll(() => gateway.stop())

const json = { 'content-type': 'application/json' }

describe('bodies', () => {
  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
    gateway.request('POST', '/api/demo/rest/processes', { body, headers })

  test('JSON without a Content-Type is JSON', async () => {
    expect((await post(new TextEncoder().encode('{"name":"n"}'), {})).status).toBe(201)
  })

  test.each([
    [{ 'content-type': 'application/merge-patch+json' }, 201],
    [{ 'content-type': 'application/json; charset="utf-8"' }, 201],
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'multipart/form-data; boundary=x' }, 415],
    [{ 'content-type': 'nonsense' }, 415],
    [{ ...json, 'content-encoding': 'gzip, br' }, 415],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
    [{ 'content-type': 'application/json; charset=utf-16' }, 415],
    [{ ...json, 'content-encoding': 'gzip' }, 415],
    [{ ...json, 'content-encoding': 'identity' }, 201],
  ])('%j → %i', async (headers, status) => {
    expect((await post('{"name":"n"}', headers)).status).toBe(status)
  })

  test.each([
    ['{', 'invalid_json'],
    ['', 'invalid_json'],
    ['null', 'invalid_json'],
    ['[]', 'invalid_json'],
    ['"x"', 'invalid_json'],
    ['{"name":"\\ud800"}', 'invalid_input'],
    [`{"name":"n","x":${'['.repeat(50_000)}${']'.repeat(49_000)}}`, 'invalid_json'],
    [`{"name":"n","x":${'['.repeat(300)}${']'.repeat(300)}}`, 'invalid_json'],
  ])('case %# is 400', async (body, code) => {
    const response = await post(body, json)
    expect([response.status, (await problemOf(response)).code]).toEqual([400, code])
  })

  test('bytes that are no UTF-8 are 400', async () => {
    expect((await post(new Uint8Array([0x7b, 0xff, 0x7d]), json)).status).toBe(400)
  })

  test('a body beyond the limit is 413, one at the limit is not', async () => {
    const body = (length: number) => `{"name":"n","description":"${'x'.repeat(length - 29)}"}`
    expect((await post(body(100_000), json)).status).toBe(201)
    expect((await post(body(100_001), json)).status).toBe(413)
  })

  test('unknown fields are ignored, and __proto__ is one of them', async () => {
    const body =
      '{"name":"n","later":1,"__proto__":{"webhook":{"enabled":true}},"manifest":{"dependencies":{"__proto__":"1"}}}'
    expect((await post(body, json)).status).toBe(201)
    expect(gateway.servers.last('createProcess')).toMatchObject({ values: { name: 'n' } })
    expect(gateway.servers.last('createProcess')).not.toHaveProperty('values.webhookEnabled')
    expect(({} as Record<string, unknown>)['webhook']).toBeUndefined()
  })

  test('a call without a body accepts an empty one of type JSON', async () => {
    const response = await gateway.request('PUT', `/api/demo/rest/executions/${EXECUTION_ID}/kill`, { headers: json })
    expect([response.status, await response.json()]).toEqual([202, EXECUTION_ID])
  })
})
