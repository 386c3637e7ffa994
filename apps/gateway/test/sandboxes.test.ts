import { Failure } from '@automation/errors'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { SANDBOX_ID } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())
beforeEach(() => gateway.servers.answers.clear())

const rest = (method: string, path: string, body?: unknown) => gateway.rest(method, path, body)
const one = `/sandboxes/${SANDBOX_ID}`

test('a sandbox has all of its members', async () => {
  expect(await (await rest('GET', one)).json()).toEqual({
    id: SANDBOX_ID,
    name: 'mine',
    status: 'RUNNING',
    grpcServerUrl: expect.stringMatching(/^http:\/\/gateway\.test:\d+$/),
    grpcApiKey: 'sbx_key',
    imageId: 'base',
    publicHttpPorts: [80, 3000],
    publicUrls: {
      80: expect.stringMatching(`^http://gateway.test:\\d+/${SANDBOX_ID}/80/$`),
      3000: expect.stringMatching(`^http://gateway.test:\\d+/${SANDBOX_ID}/3000/$`),
    },
    metadata: { a: 'b' },
    timeoutAt: '2026-01-02T03:04:05.678Z',
    createdBy: 'ci',
    createdAt: '2026-01-02T03:04:05.678Z',
  })
})

test('the input reaches the service as it wants it, and null is as good as absent', async () => {
  const input = { imageId: 'base', name: 'n', metadata: { a: '1' }, timeout: 86_400_000, publicHttpPorts: [80] }
  await rest('POST', '/sandboxes', { ...input, publicHttpPortsBasicAuth: 'me:secret' })
  const { timeout, ...same } = input
  expect(gateway.servers.last('createSandbox')).toMatchObject({
    ...same,
    timeoutMs: BigInt(timeout),
    publicHttpPortsBasicAuth: 'me:secret',
  })
  const nothing = { name: null, metadata: null, timeout: null, publicHttpPorts: null, publicHttpPortsBasicAuth: null }
  expect((await rest('POST', '/sandboxes', { imageId: 'base', ...nothing })).status).toBe(201)
  const { name, timeoutMs } = gateway.servers.last<{ name?: string; timeoutMs?: bigint }>('createSandbox')
  expect([name, timeoutMs]).toEqual([undefined, undefined])
})

describe('what is refused', () => {
  test.each([
    ['/sandboxes', '/imageId', {}],
    ['/sandboxes', '/imageId', { imageId: null }],
    ['/sandboxes', '/imageId', { imageId: 5 }],
    ['/sandboxes', '/name', { imageId: 'base', name: 'a\0' }],
    ['/sandboxes', '/metadata/a', { imageId: 'base', metadata: { a: 5 } }],
    ['/sandboxes', '/metadata', { imageId: 'base', metadata: ['a'] }],
    ['/sandboxes', '/timeout', { imageId: 'base', timeout: '1000' }],
    ['/sandboxes', '/timeout', { imageId: 'base', timeout: 1000.5 }],
    ['/sandboxes', '/publicHttpPorts/0', { imageId: 'base', publicHttpPorts: [-1] }],
    ['/sandboxes', '/publicHttpPorts/1', { imageId: 'base', publicHttpPorts: [80, 1.5] }],
    ['/sandboxes', '/publicHttpPorts', { imageId: 'base', publicHttpPorts: 80 }],
    ['/sandboxes', '/publicHttpPortsBasicAuth', { imageId: 'base', publicHttpPortsBasicAuth: 7 }],
    [one, '/timeout', {}],
    [one, '/timeout', { timeout: null }],
    [one, '/timeout', { timeout: true }],
  ])('POST %s names %s', async (path, pointer, body) => {
    const before = gateway.servers.received.length
    const response = await rest('POST', path, body)
    expect(response.status).toBe(400)
    expect((await problemOf(response)).errors?.map((fault) => fault.path)).toEqual([pointer])
    expect(gateway.servers.received).toHaveLength(before)
  })

  test('too many sandboxes are 429, and one that has ended is 400 on update', async () => {
    gateway.servers.answers.set('createSandbox', () => {
      throw new Failure('resource_exhausted', 'too_many_sandboxes', 'The team has 20 sandboxes', { retryAfterS: 5 })
    })
    const many = await rest('POST', '/sandboxes', { imageId: 'base' })
    expect([many.status, many.headers.get('retry-after')]).toEqual([429, '5'])
    gateway.servers.answers.set('updateSandbox', () => {
      throw new Failure('failed_precondition', 'sandbox_ended', 'The sandbox has ended')
    })
    const ended = await rest('POST', one, { timeout: 1000 })
    expect([ended.status, (await problemOf(ended)).code]).toEqual([400, 'sandbox_ended'])
  })

  test.each(['/sandboxes/nope', '/sandboxes/%00'])('%s can name nothing', async (path) => {
    const response = await rest('GET', path)
    expect([response.status, (await problemOf(response)).code]).toEqual([404, 'sandbox_not_found'])
  })
})
