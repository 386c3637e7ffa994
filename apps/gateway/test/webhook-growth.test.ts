import { afterAll, beforeAll, expect, test } from 'vitest'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

const most = 100_000
let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway({ BODY_MAX_BYTES: String(most) })
})
afterAll(() => gateway.stop())

const multipart = 'multipart/form-data; boundary=x'
const part = (more: string, content: string) =>
  `--x\r\ncontent-disposition: form-data; name="a"${more}\r\n\r\n${content}\r\n--x--\r\n`
const post = (type: string, body: string) =>
  gateway.request('POST', `/api/demo/webhooks/hello`, {
    headers: { authorization: '', 'content-type': type },
    body,
  })
const starts = () => gateway.servers.received.filter(({ method }) => method === 'runExecution').length

const control = '\x01'.repeat(most - 100)
test.each([
  ['text/plain', control],
  ['application/xml; charset=utf-8', control],
  ['application/x-www-form-urlencoded', control],
  ['application/json', `"${control}"`],
  [multipart, part('', control)],
])('%s that as JSON is far larger than a body may be is refused, and nothing starts', async (type, body) => {
  const before = starts()
  const problem = await problemOf(await post(type, body))
  expect(problem).toMatchObject({ status: 413, code: 'body_too_large' })
  expect(problem.message).toContain('more than 200000 bytes as JSON')
  expect(starts()).toBe(before)
})

test.each([
  ['text/plain', '"'.repeat(most)],
  ['text/plain', '\r\n'.repeat(most / 2)],
  ['text/plain', '\x01'.repeat(most / 3)],
  ['text/plain', 'é'.repeat(most / 2)],
  ['application/json', JSON.stringify({ a: Array(most / 4 - 10).fill('') })],
])('%s of the largest size that hardly grows starts a run, which has it as it came', async (type, body) => {
  expect((await post(type, body)).ok).toBe(true)
  const request = JSON.parse(Buffer.from(gateway.servers.started.webhook!.request).toString()) as { rawBody: string }
  expect(request.rawBody).toBe(body)
})

test('the same bytes as bytes start a run, which has them in base64', async () => {
  expect((await post('application/octet-stream', control)).ok).toBe(true)
  const request = JSON.parse(Buffer.from(gateway.servers.started.webhook!.request).toString()) as object
  expect(request).toMatchObject({ rawBody: Buffer.from(control).toString('base64'), isBase64: true })
})
