import { describe, expect, test } from 'vitest'
import { expectProblem } from './problem.ts'
import { awaitEnd, makeWebhook, publish } from './runs.ts'
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

  test('the request can be read afterwards, without its credentials', async () => {
    const { slug } = await makeWebhook(echo)
    const headers = { 'content-type': 'text/plain', 'X-Own': 'Value', 'x-signature': 'hidden', cookie: 'hidden=1' }
    const answer = await client.webhook('POST', slug, {
      body: 'told',
      headers,
      query: { q: ['1', '2'], token: 'hidden' },
    })
    const id = answer.headers.get('svc-execution-id') ?? ''
    const { createdAt, origin } = await awaitEnd(id)
    expect(origin).toBe('webhook')
    const request = await client.get<Echo['request']>(`/executions/${id}/request`)
    expect(request.body).toMatchObject({
      method: 'POST',
      path: `/api/${client.address.team}/webhooks/${slug}`,
      query: { q: ['1', '2'] },
      headers: { 'x-own': 'Value', 'content-type': 'text/plain' },
      rawBody: 'told',
      receivedAt: createdAt,
    })
    expect(request.text).not.toContain('hidden')
    const { body: again } = await client.post<string>(`/executions/${id}/rerun`)
    expect((await client.get(`/executions/${again}/request`)).body).toEqual(request.body)
  })

  test('the request comes again to another version by a replay, which only runs of webhooks have', async () => {
    const process = await makeWebhook(echo)
    const answer = await client.webhook('POST', process.slug, {
      body: 'told',
      headers: { 'content-type': 'text/plain' },
    })
    const first = answer.headers.get('svc-execution-id') ?? ''
    const { id: versionId } = await publish(process, { tag: 'v1', sourceCode: 'return svc.context.request.rawBody' })
    const replayed = await client.post<{ executionId: string }>(`/executions/${first}/replay`, { tag: 'v1' })
    expect(replayed.status, replayed.text).toBe(202)
    const { executionId } = replayed.body
    expect(await awaitEnd(executionId)).toMatchObject({ versionId, returnValue: '"told"', rerunOf: first })
    expectProblem(await client.post(`/executions/${first}/replay`, { tag: 'gone' }), 404, { code: 'version_not_found' })
    const { body: plain } = await client.post<{ executionId: string }>(`/processes/${process.id}/execute`, {})
    expectProblem(await client.post(`/executions/${plain.executionId}/replay`), 404, { code: 'no_request' })
  })

  test.for([
    ['application/json', '[1,2]', { body: [1, 2] }],
    ['application/x-www-form-urlencoded', 'a=1&b=x+y&b=%C3%BC', { a: '1', b: ['x y', 'ü'] }],
    ['text/plain', 'plain ü', {}],
  ] as const)('POST %s %j gives the parameters %j and the raw text', async ([type, body, parameters]) => {
    const { slug } = await makeWebhook(echo)
    const answer = await client.webhook<Echo>('POST', slug, { body, headers: { 'content-type': type } })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body.parameters).toEqual(parameters)
    expect(answer.body.request.rawBody).toBe(body)
    expect(answer.body.request.isBase64 ?? false).toBe(false)
  })

  test('bytes that are no text arrive as base64', async () => {
    const { slug } = await makeWebhook(echo)
    const body = new Uint8Array([0, 255, 1, 128])
    const headers = { 'content-type': 'application/octet-stream' }
    const answer = await client.webhook<Echo>('POST', slug, { body, headers })
    expect(answer.body.parameters).toEqual({})
    expect(answer.body.request).toMatchObject({ isBase64: true, rawBody: Buffer.from(body).toString('base64') })
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
