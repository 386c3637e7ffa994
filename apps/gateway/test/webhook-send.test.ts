import { Failure } from '@automation/errors'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { SignWithVariableRequest } from '@automation/contract/catalog/v1/variable'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway({ BODY_MAX_BYTES: '200000' })
})
afterAll(() => gateway.stop())
beforeEach(() => gateway.servers.answers.clear())

const send = (body: object) => gateway.rest('POST', '/processes/hello/webhook/send', body)

test('the caller who goes away takes along the request that is made for it', async () => {
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  gateway.servers.answers.set('runExecution', (_request, { signal }) => {
    begin()
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        resolve()
        reject(new Error('gone'))
      })
    })
  })
  const controller = new AbortController()
  const call = fetch(`${gateway.base}/api/demo/rest/processes/hello/webhook/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await gateway.servers.token()}` },
    signal: controller.signal,
  })
  await begun
  controller.abort()
  await expect(call).rejects.toThrow('aborted')
  await gone
})

test('what it holds of the budget of bodies is given back, also where it is refused', async () => {
  gateway.servers.returns('1')
  for (const body of ['x'.repeat(100_000), { deep: 'y'.repeat(100_000) }])
    expect(await (await send({ body })).json()).toMatchObject({ response: { status: 200, body: '1' } })
  gateway.servers.answers.set('checkWebhook', () => {
    throw new Failure('unauthenticated', 'webhook_credentials', 'Credentials')
  })
  expect(await (await send({ body: 'x'.repeat(100_000) })).json()).toMatchObject({ response: { status: 401 } })
  await expect.poll(() => gateway.metrics()).toContain('\ngateway_body_bytes 0\n')
})

test('a header of the answer that is named __proto__ is shown like others', async () => {
  gateway.servers.returns('{"status":200,"headers":{"__proto__":"x"},"body":""}')
  expect(await (await send({})).text()).toContain('"__proto__":"x"')
})

test('numbers, true and false stand in the query as texts', async () => {
  gateway.servers.returns('1')
  const answer = await send({ method: 'GET', query: { n: 5, yes: true, list: [1.5, 'a'] } })
  expect(((await answer.json()) as { request: { url: string } }).request.url).toMatch(
    /\?n=5&yes=true&list=1\.5&list=a$/,
  )
  for (const wrong of [{}, null, [null]]) {
    const { errors } = await problemOf(await send({ query: { n: wrong } }))
    expect(errors).toEqual([
      { path: '/query/n', message: 'must be a string, a number, true or false, or a list of them' },
    ])
  }
})

test('only the message is sent to be signed, and a catalog that knows nothing of it is away for the moment', async () => {
  gateway.servers.returns('1')
  const signWith = { variable: 'SECRET', scheme: 'stripe' }
  expect((await send({ body: 'text', signWith })).status).toBe(200)
  const { key, message } = gateway.servers.last<SignWithVariableRequest>('signWithVariable')
  expect([key, Buffer.from(message).toString()]).toEqual(['SECRET', expect.stringMatching(/^\d{10}\.text$/)])
  gateway.servers.answers.set('signWithVariable', () => {
    throw new Failure('unimplemented', 'unimplemented', 'Not known')
  })
  expect(await problemOf(await send({ body: 'text', signWith }))).toMatchObject({ status: 503, code: 'unavailable' })
})
