import { describe, expect, test } from 'vitest'
import { expectProblem } from './problem.ts'
import { awaitEnd, makeWebhook } from './runs.ts'
import { client } from './shared-system.ts'

const echo = 'return { parameters: svc.context.parameters, request: svc.context.request }'

interface Echo {
  parameters: Record<string, unknown>
  request: {
    headers: Record<string, string>
    query: Record<string, unknown>
    method: string
    rawBody: string
    isBase64?: boolean
  }
}

describe('webhook requests', () => {
  test('GET: the query parameters become the parameters, repeated names become arrays', async () => {
    const { slug } = await makeWebhook(echo)
    const answer = await client.webhook<Echo>('GET', slug, { query: { a: '1', b: ['x', 'y'], 'c d': 'ü&=' } })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body.parameters).toEqual({ a: '1', b: ['x', 'y'], 'c d': 'ü&=' })
    expect(answer.body.request).toMatchObject({ method: 'GET', query: { a: '1', b: ['x', 'y'], 'c d': 'ü&=' } })
    expect(answer.headers.get('svc-execution-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('POST: a JSON object becomes the parameters, byte-exact in rawBody, the query stays in the request', async () => {
    const { slug } = await makeWebhook(echo)
    const body = '{ "a" : 1,\n"b":[true,"ü"] }'
    const headers = { 'content-type': 'application/json; charset=utf-8', 'X-Own-Header': 'Value' }
    const answer = await client.webhook<Echo>('POST', slug, { body, headers, query: { q: '1' } })
    expect(answer.body.parameters).toEqual({ a: 1, b: [true, 'ü'] })
    expect(answer.body.request).toMatchObject({
      method: 'POST',
      rawBody: body,
      query: { q: '1' },
      headers: { 'x-own-header': 'Value' },
    })
    expect(answer.body.request.isBase64 ?? false).toBe(false)
  })

  test.for([
    ['application/json', '[1,2]', { body: [1, 2] }],
    ['application/json', '"text"', { body: 'text' }],
    ['application/json', '5', { body: 5 }],
    ['application/json', 'false', { body: false }],
    ['application/json', 'null', {}],
    ['application/json', '', {}],
    ['application/vnd.event+json', '{"a":1}', { a: 1 }],
    ['application/x-www-form-urlencoded', 'a=1&b=x+y&b=%C3%BC', { a: '1', b: ['x y', 'ü'] }],
    ['text/plain', 'plain ü', {}],
    ['application/xml', '<a>ü</a>', {}],
    ['application/javascript', 'let a', {}],
  ] as const)('POST %s %j gives the parameters %j and the raw text', async ([type, body, parameters]) => {
    const { slug } = await makeWebhook(echo)
    const answer = await client.webhook<Echo>('POST', slug, { body, headers: { 'content-type': type } })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body.parameters).toEqual(parameters)
    expect(answer.body.request.rawBody).toBe(body)
    expect(answer.body.request.isBase64 ?? false).toBe(false)
  })

  test('a JSON body without a media type is read as JSON', async () => {
    const { slug } = await makeWebhook(echo)
    const answer = await client.webhook<Echo>('POST', slug, { body: new TextEncoder().encode('{"a":1}') })
    expect(answer.body.parameters).toEqual({ a: 1 })
  })

  test.for([
    ['application/octet-stream', [0, 255, 1, 128]],
    ['image/png', [137, 80, 78, 71]],
    ['text/plain', [255, 254, 65]],
  ] as const)('the bytes of %s that are no text arrive as base64', async ([type, bytes]) => {
    const { slug } = await makeWebhook(echo)
    const answer = await client.webhook<Echo>('POST', slug, {
      body: new Uint8Array(bytes),
      headers: { 'content-type': type },
    })
    expect(answer.body.parameters).toEqual({})
    expect(answer.body.request).toMatchObject({ isBase64: true, rawBody: Buffer.from(bytes).toString('base64') })
  })

  test('multipart fields become the parameters, repeated ones arrays', async () => {
    const { slug } = await makeWebhook(echo)
    const form = new FormData()
    form.append('a', '1')
    form.append('b', 'x')
    form.append('b', 'ü')
    const answer = await client.webhook<Echo>('POST', slug, { body: form })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body.parameters).toEqual({ a: '1', b: ['x', 'ü'] })
  })

  test('invalid JSON gives 400 and starts nothing', async () => {
    const process = await makeWebhook(echo)
    for (const body of ['{', '{"a":1}x', "{'a':1}", 'undefined']) {
      const headers = { 'content-type': 'application/json' }
      expectProblem(await client.webhook('POST', process.slug, { body, headers }), 400)
    }
    const list = await client.get<{ total: number }>('/executions', { processId: process.id })
    expect(list.body.total).toBe(0)
  })

  test('the process id works in place of the slug', async () => {
    const { id } = await makeWebhook('return 1')
    expect((await client.webhook('GET', id)).text).toBe('1')
  })

  test('a signature can be checked over rawBody', async () => {
    const { slug } = await makeWebhook(`const { createHmac } = require('node:crypto')
      const { rawBody, headers } = svc.context.request
      return headers['x-signature-sha256'] === 'sha256=' + createHmac('sha256', 'key').update(rawBody).digest('hex')`)
    const body = '{"b":1,   "a":2}'
    const key = await crypto.subtle.importKey(
      'raw',
      new TextEncoder().encode('key'),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['sign'],
    )
    const digest = Buffer.from(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(body))).toString('hex')
    const call = (signature: string) =>
      client.webhook('POST', slug, {
        body,
        headers: { 'content-type': 'application/json', 'x-signature-sha256': signature },
      })
    expect((await call(`sha256=${digest}`)).text).toBe('true')
    expect((await call('sha256=00')).text).toBe('false')
  })
})

describe('asynchronous webhooks', () => {
  test('header or query: 201 with the default body and Location', async () => {
    const { slug } = await makeWebhook(echo)
    for (const options of [{ headers: { 'svc-async': 'true' } }, { query: { async: 'true' } }]) {
      const answer = await client.webhook<{ id: string }>('POST', slug, options)
      expect(answer.status, answer.text).toBe(201)
      expect(answer.body).toEqual({ id: expect.any(String), status: 'CREATED', data: null })
      const { id } = answer.body
      expect(answer.headers.get('svc-execution-id')).toBe(id)
      expect(answer.headers.get('location')).toBe(`${client.rest}/executions/${id}`)
      expect((await awaitEnd(id)).status).toBe('FINISHED')
    }
  })

  test('the query takes precedence over the header', async () => {
    const { slug } = await makeWebhook('return 1')
    expect(
      (await client.webhook('GET', slug, { headers: { 'svc-async': 'true' }, query: { async: 'false' } })).status,
    ).toBe(200)
    expect(
      (await client.webhook('GET', slug, { headers: { 'svc-async': 'false' }, query: { async: 'true' } })).status,
    ).toBe(201)
  })

  test('async_response is the body; false gives an empty one', async () => {
    const { slug } = await makeWebhook('return 1')
    const text = await client.webhook('GET', slug, { query: { async: 'true', async_response: 'Thank you ü' } })
    expect([text.status, text.text]).toEqual([201, 'Thank you ü'])
    const empty = await client.webhook('GET', slug, { query: { async: 'true', async_response: 'false' } })
    expect([empty.status, empty.text]).toEqual([201, ''])
    for (const { headers } of [text, empty]) expect(headers.get('svc-execution-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('async and async_response are taken out of what the process gets', async () => {
    const { slug } = await makeWebhook(echo)
    const { body } = await client.webhook<Echo>('GET', slug, { query: { async: 'false', async_response: 'x', a: '1' } })
    expect(body.parameters).toEqual({ a: '1' })
    expect(body.request.query).toEqual({ a: '1' })
  })
})
