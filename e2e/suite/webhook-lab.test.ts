import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Variable } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { executionOf, makeProcess, makeWebhook } from './runs.ts'
import { waitUntil } from '../system/wait-until.ts'
import { client, hasOther, other, shared, unique } from './shared-system.ts'

interface Sent {
  executionId?: string
  request: { method: string; url: string; headers: Record<string, string>; body: string; isBase64?: boolean }
  response: { status: number; headers: Record<string, string>; body: string; isBase64?: boolean }
  durationMs: number
}

const send = (process: { id: string }, json: object, by = client) =>
  by.post<Sent>(`/processes/${process.id}/webhook/send`, json)

const echo = 'return { parameters: svc.context.parameters, request: svc.context.request }'
const secret = 'not-to-be-told-to-anybody'
const variable = unique('LAB').replaceAll('-', '_')
let made: Variable

beforeAll(async () => {
  const answer = await client.post<Variable>('/variables', { key: variable, value: secret, isSensitive: true })
  expect(answer.status, answer.text).toBe(201)
  made = answer.body
})
afterAll(async () => {
  await client.delete(`/variables/${made.id}`)
})

/** Code that answers 401 unless the signature that `expected` says stands in the header. */
const checking = (header: string, expected: string) => `
  const { createHmac } = require('node:crypto')
  const { headers, rawBody } = svc.context.request
  const hmac = (text, form) => createHmac('sha256', svc.env.${variable}).update(text).digest(form)
  if (headers['${header}'] !== ${expected}) return { status: 401, body: 'wrong' }
  return svc.context.parameters`

describe('a request that the service signs is right for code that checks it as its sender says', () => {
  test.for([
    ['github', 'x-hub-signature-256', '`sha256=${hmac(rawBody, "hex")}`'],
    ['shopify', 'x-shopify-hmac-sha256', 'hmac(rawBody, "base64")'],
    [
      'stripe',
      'stripe-signature',
      '((t) => `t=${t},v1=${hmac(`${t}.${rawBody}`, "hex")}`)(/t=(\\d+)/.exec(headers["stripe-signature"])?.[1])',
    ],
    ['slack', 'x-slack-signature', '`v0=${hmac(`v0:${headers["x-slack-request-timestamp"]}:${rawBody}`, "hex")}`'],
    ['hmac', 'x-own-signature', 'hmac(rawBody, "hex")'],
  ] as const)('%s', async ([scheme, header, expected]) => {
    const process = await makeWebhook(checking(header, expected))
    const signWith = { variable, scheme, ...(scheme === 'hmac' && { header: 'X-Own-Signature' }) }
    const answer = await send(process, { method: 'POST', body: { n: 1.0, text: 'ü' }, signWith })
    expect(answer.status, answer.text).toBe(200)
    const { executionId = '', request, response } = answer.body
    expect(response).toMatchObject({ status: 200, body: '{"n":1,"text":"ü"}' })
    expect(Object.keys(request.headers).map((name) => name.toLowerCase())).toContain(header)
    expect(answer.text).not.toContain(secret)
    expect(await executionOf(executionId)).toMatchObject({ processId: process.id, origin: 'webhook' })
    // Signed with nothing it is refused by the process.
    expect((await send(process, { body: { n: 1 } })).body.response).toMatchObject({ status: 401, body: 'wrong' })
  })
})

test('what arrives is what was described, and what belongs to a connection is left out', async () => {
  const process = await makeWebhook(echo)
  const answer = await send(process, {
    method: 'POST',
    headers: { 'X-Own': 'Value', Host: 'elsewhere.example', Connection: 'close', 'content-length': '3' },
    query: { q: ['1', '2'], 'a b': 'ü&=' },
    body: 'plain ü',
  })
  const { request, response, durationMs } = answer.body
  const seen = JSON.parse(response.body) as { request: { headers: object } }
  expect(seen).toMatchObject({
    parameters: {},
    request: { method: 'POST', query: { q: ['1', '2'], 'a b': 'ü&=' }, headers: { 'x-own': 'Value' } },
  })
  expect(Object.keys(seen.request.headers).toSorted()).toEqual(['content-length', 'host', 'x-own'])
  const { team } = shared.main
  expect(new URL(request.url).pathname).toBe(`/api/${team}/webhooks/${process.slug}`)
  expect(request).toMatchObject({
    method: 'POST',
    body: 'plain ü',
    headers: { 'X-Own': 'Value', 'Content-Length': '8' },
  })
  expect(durationMs).toBeGreaterThanOrEqual(0)
})

test('a GET has its parameters in the query; bytes go and come in base64', async () => {
  const process = await makeWebhook(
    'return { parameters: svc.context.parameters, headers: svc.context.request.headers }',
  )
  const { response } = (await send(process, { method: 'GET', query: { a: '1' } })).body
  expect(JSON.parse(response.body)).toMatchObject({ parameters: { a: '1' } })
  const bytes = await makeWebhook(
    'const { rawBody, isBase64 } = svc.context.request; return isBase64 ? { status: 201, body: { base64: rawBody } } : 1',
  )
  const body = Buffer.from([0, 255, 1, 128]).toString('base64')
  const headers = { 'content-type': 'application/octet-stream' }
  const sent = (await send(bytes, { headers, body, isBase64: true })).body
  expect(sent.request).toMatchObject({ body, isBase64: true })
  expect(sent.response).toMatchObject({ status: 201, body, isBase64: true })
})

test('the webhook refuses such a request as it refuses any other: that is the answer', async () => {
  const disabled = await makeProcess({ sourceCode: echo })
  expect((await send(disabled, {})).body.response.status).toBe(404)
  const guarded = await makeWebhook(echo, { webhook: { enabled: true, username: 'u', password: 'p' } })
  const refused = (await send(guarded, {})).body
  expect(refused.response.status).toBe(401)
  expect(refused.executionId).toBeUndefined()
  expect(JSON.parse(refused.response.body)).toMatchObject({ code: 'webhook_credentials' })
  const headers = { Authorization: `Basic ${btoa('u:p')}` }
  expect((await send(guarded, { headers })).body.response.status).toBe(200)
  const elsewhere = await makeWebhook(echo, { webhook: { enabled: true, allowedAddresses: ['192.0.2.0/24'] } })
  // The caller's own address counts, whatever the request says.
  const forwarded = { 'X-Forwarded-For': '192.0.2.1' }
  expect((await send(elsewhere, { headers: forwarded })).body.response.status).toBe(404)
  const broken = { headers: { 'content-type': 'application/json' }, body: '{' }
  expect((await send(await makeWebhook(echo), broken)).body.response.status).toBe(400)
  const failing = (await send(await makeWebhook('throw new Error("no")'), {})).body
  expect(failing.response.status).toBe(500)
  expect(failing.executionId).toMatch(/^[0-9a-f-]{36}$/)
})

test('what can not be sent or signed is refused by the name of the field, and starts nothing', async () => {
  const process = await makeWebhook(echo)
  const faults: [body: object, path: string][] = [
    [{ method: 'PUT' }, '/method'],
    [{ headers: { 'X A': '1' } }, '/headers/X A'],
    [{ headers: { 'X-A': '1\r\nX-B: 2' } }, '/headers/X-A'],
    [{ headers: { 'X-A': '1', 'x-a': '2' } }, '/headers/x-a'],
    [{ headers: { 'X-A': 'x'.repeat(17_000) } }, '/headers'],
    [{ method: 'GET', body: {} }, '/body'],
    [{ body: 'no base64!', isBase64: true }, '/body'],
    [{ signWith: { variable, scheme: 'md5' } }, '/signWith/scheme'],
    [{ signWith: { variable, scheme: 'hmac' } }, '/signWith/header'],
    [{ signWith: { variable, scheme: 'hmac', header: 'Host' } }, '/signWith/header'],
    [{ signWith: { variable: 'NOT_THERE', scheme: 'github' } }, '/signWith/variable'],
    [{ signWith: { variable: 'no key', scheme: 'github' } }, '/signWith/variable'],
    [{ signWith: { scheme: 'github' } }, '/signWith/variable'],
  ]
  for (const [body, path] of faults) {
    const answer = await send(process, body)
    expectProblem(answer, 400, { path })
    expect(answer.text).not.toContain(secret)
  }
  const list = await client.get<{ total: number }>('/executions', { processId: process.id })
  expect(list.body.total).toBe(0)
})

test.skipIf(!hasOther)("another team's processes and variables are not there", async () => {
  const process = await makeWebhook(echo)
  expectProblem(await send(process, {}, other), 404, { code: 'process_not_found' })
  const theirs = await makeProcess({ sourceCode: echo, webhook: { enabled: true } }, other)
  const answer = await send(theirs, { signWith: { variable, scheme: 'github' } }, other)
  expectProblem(answer, 400, { path: '/signWith/variable' })
  const hmac = createHmac('sha256', secret).update('').digest('hex')
  expect(answer.text).not.toContain(hmac)
})

interface Delivery {
  id: string
  at: string
  status: number
  executionId?: string
  reason?: string
  method: string
  size: number
}

const deliveriesOf = async (process: { id: string }, by = client) =>
  by.get<Delivery[]>(`/processes/${process.id}/webhook/deliveries`)

/** The deliveries of a process once there are so many. */
const awaitDeliveries = (process: { id: string }, count: number) => {
  const ask = async () => {
    const { body } = await deliveriesOf(process)
    return body.length >= count && body
  }
  return waitUntil(`${count} deliveries`, ask, { timeoutMs: 30_000 })
}

describe('deliveries', () => {
  test('what has come to a webhook is listed, newest first, the refused with the reason', async () => {
    const process = await makeWebhook('return { status: 202, body: "later" }', {
      webhook: { enabled: true, username: 'u', password: 'p' },
    })
    expect((await deliveriesOf(process)).body).toEqual([])
    const headers = { authorization: `Basic ${btoa('u:p')}` }
    const path = process.slug
    const answered = [
      await client.webhook('GET', path),
      await client.webhook('POST', path, { body: '{"a":1}', headers }),
      await client.webhook('POST', path, { body: '{', headers: { ...headers, 'content-type': 'application/json' } }),
      await client.webhook('POST', path, { headers, query: { async: true } }),
      await client.webhook('GET', path, { headers: { ...headers, 'svc-version-tag': 'nope' } }),
      await client.webhook('PUT', path, { headers }),
    ]
    const list = (await awaitDeliveries(process, answered.length)).toReversed()
    expect(list.map(({ status }) => status)).toEqual([401, 202, 400, 201, 404, 405])
    expect(list.map(({ status }) => status)).toEqual(answered.map(({ status }) => status))
    expect(list.map(({ executionId }) => executionId ?? null)).toEqual(
      answered.map((answer) => answer.headers.get('svc-execution-id')),
    )
    expect(list[0]).toMatchObject({ method: 'GET', size: 0, reason: 'The call had no user name and password' })
    expect(list[1]).toMatchObject({ method: 'POST', size: 7 })
    expect(list[2]).toMatchObject({ method: 'POST', size: 1, reason: expect.stringContaining('JSON') })
    for (const { status, reason } of list) expect(reason !== undefined, `${status}`).toBe(status >= 400)
  })

  test('the status is that which the caller got, also where the value is not kept or is large', async () => {
    const process = await makeWebhook('return svc.context.parameters')
    const values = [
      { isTransient: true, status: 404, body: 'gone' },
      { isTransient: true, status: 600, body: '' },
      { isTransient: true, status: 200, body: 'kept nowhere' },
      { status: 503, body: 'x'.repeat(100_000) },
      { status: 410, body: 'small' },
    ]
    const statuses: number[] = []
    for (const json of values) statuses.push((await client.webhook('POST', process.slug, { json })).status)
    expect(statuses).toEqual([404, 500, 200, 503, 410])
    const list = (await deliveriesOf(process)).body.toReversed()
    expect(list.map(({ status }) => status)).toEqual(statuses)
  })

  test('a flood of refused calls leaves at most a hundred', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const calls = Array.from({ length: 300 }, () => client.webhook('POST', process.slug, { body: 'x' }))
    // Where the team has a limit of calls a second, some are refused for that.
    for (const { status } of await Promise.all(calls)) expect([404, 429]).toContain(status)
    const list = await awaitDeliveries(process, 100)
    expect(list).toHaveLength(100)
    expect(list.map(({ reason }) => reason)).toContain('The webhook is not enabled')
  })

  test.skipIf(!hasOther)("another team's are not there", async () => {
    const process = await makeWebhook('return 1')
    await client.webhook('GET', process.slug)
    expectProblem(await deliveriesOf(process, other), 404, { code: 'process_not_found' })
    expect((await awaitDeliveries(process, 1))[0]).toMatchObject({ status: 200, method: 'GET' })
  })
})
