import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

const json = { 'content-type': 'application/json' }
const refused = async (method: string, path: string, body?: unknown) =>
  problemOf(await gateway.rest(method, path, body))

const manyNames = (count: number) => Object.fromEntries([...Array(count).keys()].map((n) => [`n${n}`, n]))

describe('what is wrong with the input is told in plain words', () => {
  test.each([
    [{ name: 1 }, '/name', 'must be a string, not a number'],
    [{ name: 'n', tags: 'x' }, '/tags', 'must be a list, not a string'],
    [{ name: 'n', tags: ['a', null] }, '/tags/1', 'must be a string, not null'],
    [{ name: 'n', webhook: { enabled: 'yes' } }, '/webhook/enabled', 'must be true or false, not a string'],
    [{ name: 'n', webhook: [] }, '/webhook', 'must be an object, not a list'],
    [{ name: 'n', programmingLanguage: 'RUBY' }, '/programmingLanguage', 'must be one of JAVASCRIPT, PYTHON'],
  ])('%j', async (body, path, message) => {
    const problem = await refused('POST', '/processes', body)
    expect(problem).toMatchObject({ status: 400, errors: [{ path, message }], detail: `${path} ${message}` })
  })

  test('a fraction is no whole number', async () => {
    const problem = await refused('POST', '/processes/hello/execute', { settings: { timeout: 1.5 } })
    expect(problem.errors).toEqual([{ path: '/settings/timeout', message: 'must be a whole number, not a fraction' }])
  })

  test('all faults at once, with the same words in the text as in the list', async () => {
    const { detail, message, errors = [] } = await refused('POST', '/processes', { name: 1, tags: 2, webhook: 3 })
    expect(errors.map(({ path }) => path).toSorted()).toEqual(['/name', '/tags', '/webhook'])
    expect(detail).toBe(errors.map(({ path, message: words }) => `${path} ${words}`).join('; '))
    expect(message).toBe(detail)
  })

  test('of ever so many faults there is an end', async () => {
    const { detail, errors = [] } = await refused('POST', '/processes', { name: 'n', tags: Array(4000).fill(1) })
    expect(errors).toHaveLength(100)
    expect(detail).toMatch(/; and 80 more$/)
  })

  test.each([
    ['/processes', { tags: Array(5000).fill(1) }, '/tags', 'items'],
    ['/processes', { manifest: { dependencies: manyNames(5000) } }, '/manifest/dependencies', 'entries'],
    [
      '/processes/hello/execute',
      { draft: { sourceCode: '', manifest: { dependencies: manyNames(5000) } } },
      '/draft/manifest/dependencies',
      'entries',
    ],
    ['/sandboxes', { imageId: 'base', publicHttpPorts: Array(5000).fill('x') }, '/publicHttpPorts', 'items'],
  ])('%s: what has more items than anything may have is one fault', async (path, body, at, what) => {
    const { errors } = await refused('POST', path, { name: 'n', ...body })
    expect(errors).toEqual([{ path: at, message: `must have at most 4096 ${what}` }])
  })
})

test.each([
  ['{', 'line 1, column 2: a name in double quotes is expected'],
  ['{"a" 1}', 'line 1, column 6: ":" is expected'],
  ['{\n  "a": 1,\n}', 'line 3, column 1: a name in double quotes is expected'],
  ['{"a": [1 2]}', 'line 1, column 10: "," or "]" is expected'],
  ['{"a": 1', 'line 1, column 8: the text ends, and "}" is missing'],
  ['{"a":', 'line 1, column 6: the text ends where a value is expected'],
  ["{'a': 1}", 'line 1, column 2: a name in double quotes is expected'],
  ['{"a": undefined}', 'line 1, column 7: a value is expected'],
  ['{"a": 01}', 'line 1, column 8: "," or "}" is expected'],
  ['{"a": "x\ny"}', 'line 1, column 9: in a string a line break or another control character must be escaped'],
  ['{"a": "\\x"}', 'line 1, column 8: the string has an escape that JSON lacks'],
  ['{"a": "', 'line 1, column 8: the text ends within a string'],
  ['{} {}', 'line 1, column 4: nothing more is expected'],
])('JSON that is none is told with its place: %j', async (body, where) => {
  const paths = ['/api/demo/rest/processes', '/api/demo/webhooks/hello']
  for (const path of paths) {
    const problem = await problemOf(await gateway.request('POST', path, { headers: json, body }))
    const detail = `The request body is not valid JSON at ${where}`
    expect(problem).toMatchObject({
      status: 400,
      code: 'invalid_json',
      detail,
      errors: [{ path: '', message: detail }],
    })
  }
})

test.each(['execute', 'execute-sync'])('parameters without their member are refused by %s', async (how) => {
  const path = `/processes/hello/${how}`
  const before = gateway.servers.received.length
  const { status, errors = [], detail } = await refused('POST', path, { a: 1, 'b/c': 2 })
  expect([status, errors.map((fault) => fault.path)]).toEqual([400, ['/a', '/b~1c']])
  expect(detail).toContain('{"parameters": {…}}')
  expect(gateway.servers.received).toHaveLength(before)
  for (const body of [{}, { a: 1, parameters: {} }, { a: 1, tag: null }, { a: 1, parameters: null }, undefined])
    expect((await gateway.rest('POST', path, body)).status, JSON.stringify(body)).toBeLessThan(300)
})

describe('who has no access token is told how to get one', () => {
  const hint = 'POST /api/demo/rest/auth/token exchanges an API token, in the header x-api-token, for an access token'
  const sk = `sk-${btoa('sa-demo-abcdefgh:secret')}`
  const record = btoa('{"clientId":"sa-demo-abcdefgh","clientSecret":"secret"}')

  test.each([
    ['', 'token_missing'],
    ['Basic eDp5', 'token_missing'],
    [sk, 'token_missing'],
    [`Bearer ${sk}`, 'token_invalid'],
    [`bearer ${record}`, 'token_invalid'],
  ])('%s', async (authorization, code) => {
    const response = await gateway.request('GET', '/api/demo/rest/team', { headers: { authorization } })
    const problem = await problemOf(response)
    expect(problem).toMatchObject({ status: 401, code })
    expect(problem.detail).toContain(hint)
    expect(problem.detail).not.toContain('c2E')
  })

  test('an address without a proper team is not repeated', async () => {
    const response = await gateway.request('GET', '/api/De%20mo/rest/team', { headers: { authorization: '' } })
    expect((await problemOf(response)).detail).toContain('/api/{team}/rest/auth/token')
  })
})

test('a form with the file in another field is told which one is wanted', async () => {
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  const body = '--b\r\nContent-Disposition: form-data; name="upload"; filename="x"\r\n\r\nx\r\n--b--\r\n'
  const response = await gateway.request('POST', '/api/demo/rest/storage/objects?filename=x', { headers, body })
  const message = 'is required: send the file in the field "file"; the form has "upload" instead'
  expect(await problemOf(response)).toMatchObject({ status: 400, detail: `/file ${message}`, errors: [{ message }] })
})

test.each(['/', '/api', '/processes', '/api/processes', '/rest/processes', '/webhooks/hello', '/api/demo/processes'])(
  'there is nothing at %s, and it says where to look',
  async (path) => {
    const problem = await problemOf(await gateway.request('GET', path))
    expect([problem.status, problem.detail.includes('/docs')]).toEqual([404, true])
  },
)

test('an answer of 200 without a body has a type', async () => {
  const calls = [
    ['DELETE', '/processes/hello'],
    ['DELETE', '/processes/hello/versions/v'],
    ['DELETE', '/processes/hello/aliases/0190a0b0-0000-7000-8000-000000000001'],
    ['DELETE', '/variables/0190a0b0-0000-7000-8000-000000000001'],
    ['DELETE', '/schedules/0190a0b0-0000-7000-8000-000000000001'],
    ['PUT', '/schedules/0190a0b0-0000-7000-8000-000000000001/pause'],
  ] as const
  for (const [method, path] of calls) {
    const response = await gateway.rest(method, path)
    const seen = [response.status, response.headers.get('content-type'), await response.text()]
    expect(seen, `${method} ${path}`).toEqual([200, 'text/plain; charset=utf-8', ''])
  }
})
