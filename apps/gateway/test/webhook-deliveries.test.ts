import { Failure, notFound } from '@automation/errors'
import type { NoteWebhookRefusalRequest } from '@automation/contract/execution/v1/execution'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { deliveredStatuses } from './contract-records.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway({ BODY_MAX_BYTES: '100000' })
})
afterAll(() => gateway.stop())
beforeEach(() => gateway.servers.answers.clear())

const post = (slug: string, body: string, headers: Record<string, string> = {}) =>
  gateway.request('POST', `/api/demo/webhooks/${slug}`, { body, headers: { authorization: '', ...headers } })
const noted = () =>
  gateway.servers.received
    .filter(({ method }) => method === 'noteWebhookRefusal')
    .map(({ request }) => request as NoteWebhookRefusalRequest)

test('each is shown with the status that its caller was answered', async () => {
  const answer = await gateway.rest('GET', '/processes/hello/webhook/deliveries')
  const list = (await answer.json()) as { status: number }[]
  expect(list.map(({ status }) => status)).toEqual(deliveredStatuses)
  expect(list.at(-1)).toMatchObject({ reason: 'Wrong', method: 'POST', size: 7 })
  expect(list.at(-1)).not.toHaveProperty('executionId')
})

test('execution is told what was refused before it was asked, with the reason, and nothing that it has refused', async () => {
  const type = { 'content-type': 'application/json' }
  expect((await post('told', '{', type)).status).toBe(400)
  expect((await post('told', 'x'.repeat(100_001))).status).toBe(413)
  expect((await post('told', '{}', { 'svc-async': 'perhaps' })).status).toBe(400)
  expect((await gateway.request('PUT', '/api/demo/webhooks/told')).status).toBe(405)
  gateway.servers.answers.set('runExecution', () => {
    throw notFound('webhook')
  })
  gateway.servers.answers.set('checkWebhook', () => {
    throw new Failure('unauthenticated', 'webhook_credentials', 'Credentials')
  })
  expect((await post('told', '{}', type)).status).toBe(404)
  expect((await post('told', 'x'.repeat(90_000))).status).toBe(401)
  await expect
    .poll(() => noted().map(({ refusal }) => refusal?.code))
    .toEqual(['invalid_json', 'body_too_large', 'invalid_input', 'method_not_allowed'])
  const [json, large] = noted()
  expect(json).toMatchObject({
    identifier: 'told',
    method: 'POST',
    bodyBytes: 1n,
    refusal: { kind: 'invalid_argument' },
  })
  expect(large).toMatchObject({ bodyBytes: 100_001n, refusal: { reason: expect.stringContaining('larger than') } })
  expect(
    gateway.servers.received.find(({ method }) => method === 'noteWebhookRefusal')?.context.principal,
  ).toMatchObject({
    team: 'demo',
  })
})

test('a flood is told of a hundred times a minute, and answered all the same where execution is away', async () => {
  gateway.servers.answers.set('noteWebhookRefusal', () => {
    throw new Failure('unavailable', 'unavailable', 'Away')
  })
  const before = noted().length
  for (let count = 0; count < 150; count++)
    expect((await post('flooded', '{', { 'content-type': 'application/json' })).status).toBe(400)
  expect(noted().length - before).toBe(100)
})

test('floods at webhooks that are not there, or of another team, keep no refusals of others from the lists', async () => {
  const own = await startGateway()
  const { answers, received } = own.servers
  answers.set('noteWebhookRefusal', ({ identifier }: NoteWebhookRefusalRequest) => {
    if (identifier.startsWith('made-up')) throw notFound('webhook')
    return {}
  })
  const refused = (team: string, slug: string) => own.request('PUT', `/api/${team}/webhooks/${slug}`)
  const told = (team: string) =>
    received.filter(({ method, context }) => method === 'noteWebhookRefusal' && context.principal.team === team).length
  try {
    for (const team of ['demo', 'other']) await refused(team, 'hello')
    for (let nth = 0; nth < 1100; nth += 1) await refused(`team-${nth % 10}`, `made-up-${nth}`)
    for (let nth = 0; nth < 400; nth += 1) await refused('other', `hook-${nth % 4}`)
    await refused('demo', 'hello')
    expect(told('demo')).toBe(2)
  } finally {
    await own.stop()
  }
})
