import { Failure, notFound } from '@automation/errors'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

const MIB = 1024 * 1024
const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data; boundary=b'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())
beforeEach(() => gateway.servers.answers.clear())

/**
 * The answer to a webhook call, and the most that this thread worked meanwhile before it went on to something else, in ms
 * of its own processor time: others at work on the machine count for nothing.
 */
async function answered(body: string, type: string) {
  let isOpen = true
  const headers = { authorization: '', 'content-type': type }
  const bytes = Buffer.from(body)
  const call = gateway.request('POST', '/api/demo/webhooks/hello', { body: bytes, headers }).finally(() => {
    isOpen = false
  })
  let longestMs = 0
  for (let before = workedMs(); isOpen; before = workedMs()) {
    await setImmediate()
    longestMs = Math.max(longestMs, workedMs() - before)
  }
  return { response: await call, longestMs }
}

function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** A text of this size. */
const filled = (unit: string, bytes = 10 * MIB) => unit.repeat(Math.floor(bytes / unit.length))

describe('a body of 10 MiB holds up nobody else', () => {
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'

  test.each([
    ['a form of names', FORM, filled('a&'), 'too_many_fields'],
    ['a form of pairs', FORM, filled('a=1&'), 'too_many_fields'],
    ['a form of different names', FORM, filled('&x') + filled('&y=2', 1000), 'body_too_large'],
    ['multipart of small parts', MULTIPART, filled(part), 'too_many_parts'],
    ['multipart of nothing but boundaries', MULTIPART, filled('--b\r\n'), 'too_many_parts'],
  ])('%s is refused', async (...[, type, body, code]) => {
    const { response, longestMs } = await answered(body, type)
    expect(await problemOf(response)).toMatchObject({ code })
    expect(longestMs).toBeLessThan(1000)
  })

  test.each([
    ['percent signs', filled('%')],
    ['percent-encoded bytes', filled('%ff')],
    ['plus signs', filled('+')],
    ['ampersands', filled('&')],
    ['equals signs', filled('=')],
    ['one field', filled('x')],
  ])('a form of %s is read', async (...[, body]) => {
    const { response, longestMs } = await answered(body, FORM)
    expect(response.status).toBe(204)
    expect(longestMs).toBeLessThan(1000)
  })
})

test('10,000 fields are read, one more is refused and said so', async () => {
  const form = (fields: number) => filled('a&', 2 * fields)
  expect((await answered(form(10_000), FORM)).response.status).toBe(204)
  expect(JSON.parse(Buffer.from(gateway.servers.started.parameters).toString()).a).toHaveLength(10_000)
  const { response } = await answered(form(10_001), FORM)
  expect(response.status).toBe(400)
  expect((await problemOf(response)).detail).toContain('10000 fields')
})

test('an upload of more than 1,000 parts is refused', async () => {
  const body = `${'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(1001)}--b--\r\n`
  const headers = { 'content-type': MULTIPART }
  const response = await gateway.request('POST', '/api/demo/rest/storage/objects?filename=x', { body, headers })
  expect(await problemOf(response)).toMatchObject({ status: 400, code: 'too_many_parts' })
})

test.each(['constructor: x', '__proto__: x'])('a part with the header %s is malformed', async (header) => {
  const body = `--b\r\n${header}\r\n\r\n1\r\n--b--\r\n`
  for (const path of ['/api/demo/webhooks/hello', '/api/demo/rest/storage/objects?filename=x']) {
    const headers = { 'content-type': MULTIPART }
    const response = await gateway.request('POST', path, { body, headers })
    expect(await problemOf(response)).toMatchObject({ status: 400, code: 'malformed_request' })
  }
})

describe('who may start a process is asked before a large body is read', () => {
  const refusals = [notFound('webhook'), new Failure('unauthenticated', 'webhook_credentials', 'Credentials')]
  const announced = (bytes: number) => ({
    method: 'POST',
    headers: { authorization: `Basic ${btoa('u:p')}`, 'content-type': 'application/json' },
    // Never comes whole.
    body: new ReadableStream({ start: (controller) => controller.enqueue(Buffer.alloc(bytes, ' ')) }),
    duplex: 'half' as const,
  })

  test.each(refusals)('where it does not come whole: %s', async (refusal) => {
    gateway.servers.answers.set('checkWebhook', () => {
      throw refusal
    })
    const response = await fetch(`${gateway.base}/api/demo/webhooks/hello`, announced(100_000))
    expect(await problemOf(response)).toMatchObject({ code: refusal.code })
    expect(gateway.servers.last('checkWebhook')).toMatchObject({
      identifier: 'hello',
      webhook: { username: 'u', password: 'p' },
    })
  })

  test('a body with a length that is large is not waited for', async () => {
    gateway.servers.answers.set('checkWebhook', () => {
      throw notFound('webhook')
    })
    const { response } = await answered(filled(' '), 'application/json')
    expect(response.status).toBe(404)
  })

  test('a small body costs no question of its own', async () => {
    const before = gateway.servers.received.length
    const { response } = await answered('{"a":1}', 'application/json')
    expect(response.status).toBe(204)
    expect(gateway.servers.received.slice(before).map(({ method }) => method)).toEqual(['runExecution'])
  })

  test('a large one is read when the caller may, also in pieces', async () => {
    const text = JSON.stringify({ a: 'x'.repeat(500_000) })
    const body = new ReadableStream({
      start(controller) {
        for (let at = 0; at < text.length; at += 1000) controller.enqueue(Buffer.from(text.slice(at, at + 1000)))
        controller.close()
      },
    })
    const headers = { 'content-type': 'application/json' }
    const url = `${gateway.base}/api/demo/webhooks/hello`
    const streamed = { method: 'POST', headers, body, duplex: 'half' as const }
    const response = await fetch(url, streamed)
    expect(response.status).toBe(204)
    expect(Buffer.from(gateway.servers.started.parameters).toString()).toBe(text)
  })
})
