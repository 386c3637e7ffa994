import { Status } from '@automation/contract/execution/v1/execution'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { Failure } from '@automation/errors'
import { served, type Handlers } from '@automation/rpc'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { process as stored, execution } from './contract-records.ts'
import { EXECUTION_ID, ISSUER } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests
beforeAll(async () => {
  gateway = await startGateway({
    SYNC_WAIT_MAX_MS: '200',
    CORS_ORIGINS: 'https://shop.example',
    OIDC_ISSUER: 'https://id.test',
    OIDC_AUDIENCE: 'svc',
    OIDC_JWKS_URL: 'https://id.test/keys',
  })
  const tool = { ...stored, slug: 'hello', tags: ['mcp-tool'], parametersSchema: '' }
  gateway.servers.answers.set('getProcess', () => tool)
  gateway.servers.answers.set('listProcesses', () => ({ processes: [tool], page: { total: 1 } }))
})
afterAll(() => gateway.stop())

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const runHello = {
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'run_hello', arguments: { name: 'Ada' } },
}

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

interface ToolPage {
  tools: { name: string }[]
  nextCursor?: string
}

/** A request of a client of 2025, which needs no handshake. */
function send(body: unknown, headers: Record<string, string> = {}, query = ''): Promise<Response> {
  return gateway.request('POST', `/api/demo/mcp${query}`, {
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** What the last message of an answer has. */
async function resultOf<T = Record<string, unknown>>(response: Response): Promise<T> {
  const text = await response.text()
  const data = response.headers.get('content-type')?.includes('event-stream')
    ? text
        .split('\n')
        .findLast((line) => line.startsWith('data: '))
        ?.slice('data: '.length)
    : text
  return JSON.parse(data ?? '') as T
}

const withToken = async (claims: Record<string, unknown>) => ({
  authorization: `Bearer ${await gateway.servers.token(claims)}`,
})

describe('who may', () => {
  test.each([
    ['no token', {}, /^Bearer realm="rest", resource_metadata="([^"]+)"$/],
    ['a token that is none', { authorization: 'Bearer x.y.z' }, /error="invalid_token", resource_metadata="([^"]+)"$/],
  ])('with %s a client is led to the metadata', async (_, headers, challenge) => {
    const response = await fetch(`${gateway.base}/api/demo/mcp`, { method: 'POST', headers, body: '{}' })
    expect(response.status).toBe(401)
    const [, url = ''] = challenge.exec(response.headers.get('www-authenticate') ?? '') ?? []
    expect(await (await fetch(url.replace(ISSUER, gateway.base))).json()).toMatchObject({
      resource: `${ISSUER}/api/demo/mcp`,
      authorization_servers: ['https://id.test', `${ISSUER}/api/demo/rest`],
      scopes_supported: ['mcp:tools', 'mcp:read', 'mcp:run', 'mcp:build'],
    })
  })

  test.each<Record<string, string>>([{}, { authorization: 'Basic x' }, { authorization: 'Bearer ' }])(
    'with %j a client is told which tokens it takes',
    async (headers) => {
      const response = await fetch(`${gateway.base}/api/demo/mcp`, { method: 'POST', headers, body: '{}' })
      expect(response.status).toBe(401)
      expect(await problemOf(response)).toMatchObject({
        code: 'token_missing',
        message: expect.stringMatching(/^An API token or an access token .*auth\/service-accounts/),
      })
    },
  )

  test('a token that reaches no level is told which scope it lacks', async () => {
    const response = await send(list, await withToken({ scope: 'build' }))
    expect(response.status).toBe(403)
    expect(response.headers.get('www-authenticate')).toMatch(/error="insufficient_scope", scope="mcp:tools"/)
  })

  test('a token of another team is refused, and pages of origins that are not named', async () => {
    expect((await send(list, await withToken({ groups: ['other'] }))).status).toBe(403)
    const response = await send(list, { origin: 'https://evil.example' })
    expect(response.status).toBe(403)
    expect(await problemOf(response)).toMatchObject({ code: 'forbidden_origin' })
    for (const origin of ['https://shop.example', ISSUER]) expect((await send(list, { origin })).status).toBe(200)
  })

  test('an API token is exchanged, once for many requests', async () => {
    const accessToken = await gateway.servers.token()
    gateway.servers.answers.set('exchangeToken', () => ({ accessToken, expiresInS: 3600, scope: 'executor' }))
    const apiToken = `sk-${Buffer.from('sa-demo-abcdefgh:secret').toString('base64')}`
    const before = gateway.servers.received.filter(({ method }) => method === 'exchangeToken').length
    for (let round = 0; round < 3; round += 1)
      expect((await send(list, { authorization: `Bearer ${apiToken}` })).status).toBe(200)
    expect(gateway.servers.received.filter(({ method }) => method === 'exchangeToken')).toHaveLength(before + 1)
    gateway.servers.answers.set('exchangeToken', () => {
      throw new Failure('unauthenticated', 'api_token_invalid', 'No')
    })
    expect((await send(list, { authorization: `Bearer ${apiToken.slice(0, -4)}` })).status).toBe(401)
  })
})

test('within 5 s an API token that was revoked at once is refused, though it was exchanged a moment before', async () => {
  const told = { gateways: 1, tellsSuspensions: true }
  let answer: object = { ...told, revision: 1n }
  const own = await startGateway({}, {}, ({ answers }) => answers.set('listTeamLimits', () => answer as never))
  try {
    const accessToken = await own.servers.token({ client_id: 'sa-demo-abcdefgh' })
    own.servers.answers.set('exchangeToken', () => ({ accessToken, expiresInS: 3600, scope: 'executor' }))
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer sk-${Buffer.from('sa-demo-abcdefgh:secret').toString('base64')}`,
    }
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
    const status = async () => (await own.request('POST', '/api/demo/mcp', { headers, body: ping })).status
    expect(await status()).toBe(200)
    answer = { ...told, revision: 2n, revokedClients: ['sa-demo-abcdefgh'] }
    await until(async () => (await status()) === 401, { what: 'the token to be refused', timeoutMs: 5000 })
  } finally {
    await own.stop()
  }
})

test('within 5 s an API token that was revoked is refused', async () => {
  const accessToken = await gateway.servers.token({ client_id: 'sa-demo-revoked1' })
  const authorization = `Bearer sk-${Buffer.from('sa-demo-revoked1:secret').toString('base64')}`
  gateway.servers.answers.set('exchangeToken', () => ({ accessToken, expiresInS: 3600, scope: 'executor' }))
  expect((await send(list, { authorization })).status).toBe(200)
  gateway.servers.answers.set('exchangeToken', () => {
    throw new Failure('unauthenticated', 'api_token_invalid', 'No')
  })
  const status = async () => (await send(list, { authorization })).status
  await until(async () => (await status()) === 401, { what: 'the token to be refused', timeoutMs: 5000 })
})

describe('the address', () => {
  test.each(['GET', 'DELETE'])('has no %s', async (method) => {
    const response = await gateway.request(method, '/api/demo/mcp')
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST, OPTIONS')
  })

  test('names a level that there is', async () => {
    const response = await send(list, {}, '?access=all')
    expect(response.status).toBe(400)
    expect(await problemOf(response)).toMatchObject({
      errors: [{ path: '/access', message: 'must be one of tools, read, run, build' }],
    })
  })

  test('answers what is no JSON in the words of the protocol', async () => {
    expect(await resultOf(await send('{"jsonrpc":'))).toMatchObject({ error: { code: -32700 } })
  })
})

test('tools come in pages of 100, by name, to be kept for 30 s by the client alone', async () => {
  const own = await startGateway()
  const all = Array.from({ length: 150 }, (_, n) => ({
    ...stored,
    id: crypto.randomUUID(),
    slug: `tool-${n}`,
    tags: ['mcp-tool'],
    parametersSchema: '',
  }))
  own.servers.answers.set('listProcesses', () => ({ processes: all, page: { total: 150 } }))
  const page = async (cursor?: string) => {
    const params = { _meta: modernMeta, ...(cursor !== undefined && { cursor }) }
    const answer = await own.request('POST', '/api/demo/mcp?access=read', {
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/list',
      },
      body: JSON.stringify({ ...list, params }),
    })
    return (await resultOf<{ result: ToolPage }>(answer)).result
  }
  const first = await page()
  const second = await page(first.nextCursor)
  expect(first).toMatchObject({ ttlMs: 30_000, cacheScope: 'private' })
  expect(first.tools).toHaveLength(100)
  expect(second.nextCursor).toBeUndefined()
  const names = [...first.tools, ...second.tools].map(({ name }) => name)
  expect(names).toEqual([...new Set(names)].toSorted())
  expect(names.filter((name) => name.startsWith('run_tool-'))).toHaveLength(150)
  await own.stop()
})

test('the bodies of calls that tools make are held no longer than these', async () => {
  const own = await startGateway()
  own.servers.answers.set('getProcess', () => ({ ...stored, slug: 'hello', tags: ['mcp-tool'], parametersSchema: '' }))
  own.servers.watching = async function* () {
    yield { updates: [] }
    yield { updates: [{ position: '1', update: { case: 'end', value: Status.FINISHED } }] }
  }
  const message = { ...runHello, params: { ...runHello.params, arguments: { name: 'a'.repeat(50_000) } } }
  const answer = await own.request('POST', '/api/demo/mcp', {
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(message),
  })
  expect((await resultOf<{ result: object }>(answer)).result).toMatchObject({ isError: false })
  await expect.poll(() => own.metrics()).toMatch(/^gateway_body_bytes 0$/m)
  await own.stop()
})

test('schemas of tools of an alias are read a few at a time', async () => {
  const all = Array.from({ length: 40 }, (_, n) => ({
    ...stored,
    id: crypto.randomUUID(),
    slug: `tool-${n}`,
    tags: ['mcp-tool'],
  }))
  const own = await startGateway()
  own.servers.answers.set('listProcesses', () => ({ processes: all, page: { total: 40 } }))
  let [open, most] = [0, 0]
  own.servers.answers.set('listAliases', async () => {
    open += 1
    most = Math.max(most, open)
    await new Promise((resolve) => setImmediate(resolve))
    open -= 1
    return { aliases: [], page: { total: 0 } }
  })
  const answer = await own.request('POST', '/api/demo/mcp?alias=live', {
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(list),
  })
  expect((await resultOf<{ result: ToolPage }>(answer)).result.tools.map(({ name }) => name)).not.toContain(
    'run_tool-0',
  )
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(8)
  await own.stop()
})

test('an object whose answer would be larger than 256 KiB is refused', async () => {
  const bytes = Buffer.alloc(100 * 1024, '"')
  const readObject = async function* () {
    yield { chunk: bytes }
  }
  const getObject = () => ({ name: 'a', contentType: 'text/plain', size: BigInt(bytes.length), md5: Buffer.alloc(16) })
  const handlers = { getObject, readObject } as unknown as Handlers<typeof StorageService>
  gateway.servers.network.add([served(StorageService, handlers)])
  const read = { ...list, method: 'tools/call', params: { name: 'read_storage_object', arguments: { filename: 'a' } } }
  const { result } = await resultOf<{ result: object }>(await send(read, {}, '?access=read'))
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/read it over REST/) as string }],
  })
})

describe('a run', () => {
  test('has to be of the alias that the address names', async () => {
    const before = gateway.servers.received.filter(({ method }) => method === 'startExecution').length
    const { result } = await resultOf<{ result: object }>(await send(runHello, {}, '?alias=nowhere'))
    expect(result).toMatchObject({ isError: true, content: [{ text: 'It has no version of the alias nowhere' }] })
    expect(gateway.servers.received.filter(({ method }) => method === 'startExecution')).toHaveLength(before)
  })

  test('whose value is too long for any answer gives its beginning, as it was returned', async () => {
    const value = `[${'1, '.repeat(300_000)}1]`
    gateway.servers.answers.set('getExecution', () => ({ ...execution, returnValue: Buffer.from(value) }))
    gateway.servers.watching = async function* () {
      yield { updates: [] }
      yield { updates: [{ position: '1', update: { case: 'end', value: Status.FINISHED } }] }
    }
    const { result } = await resultOf<{ result: object }>(await send(runHello))
    gateway.servers.answers.delete('getExecution')
    expect(result).toMatchObject({
      structuredContent: { status: 'FINISHED', truncated: true, returnValue: value.slice(0, 32 * 1024) },
    })
  })

  test.each([
    ['outside a session is cancelled by no message', {}, 'ada'],
    ['is not cancelled by another person with the same OAuth client', { 'mcp-session-id': 'one' }, 'bob'],
  ])('%s', async (_, session, other) => {
    const own = await startGateway()
    own.servers.answers.set('getProcess', () => ({
      ...stored,
      slug: 'hello',
      tags: ['mcp-tool'],
      parametersSchema: '',
    }))
    const { promise: watched, resolve: begun } = Promise.withResolvers<void>()
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    own.servers.watching = async function* () {
      begun()
      yield { updates: [] }
      await ended
      yield { updates: [{ position: '1', update: { case: 'end', value: Status.FINISHED } }] }
    }
    const postAs = async (sub: string, message: unknown) =>
      own.request('POST', '/api/demo/mcp', {
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${await own.servers.token({ client_id: 'app', sub })}`,
          ...session,
        },
        body: JSON.stringify(message),
      })
    const call = postAs('ada', runHello)
    await watched
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: runHello.id } }
    expect((await postAs(other, cancelled)).status).toBe(202)
    end()
    expect((await resultOf<{ result: object }>(await call)).result).toMatchObject({
      structuredContent: { status: 'FINISHED' },
    })
    expect(own.servers.received.filter(({ method }) => method === 'killExecution')).toEqual([])
    await own.stop()
  })

  test('whose cancellation overtakes it is not started, and those after it are', async () => {
    gateway.servers.watching = async function* () {
      yield { updates: [] }
      yield { updates: [{ position: '1', update: { case: 'end', value: Status.FINISHED } }] }
    }
    const session = { 'mcp-session-id': 'overtaken' }
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: runHello.id } }
    expect((await send(cancelled, session)).status).toBe(202)
    const starts = () => gateway.servers.received.filter(({ method }) => method === 'startExecution').length
    const before = starts()
    expect((await resultOf<{ result: object }>(await send(runHello, session))).result).toMatchObject({
      isError: true,
      content: [{ text: 'The call was cancelled' }],
    })
    expect(starts()).toBe(before)
    const after = { ...runHello, id: 'after' }
    const ended = async () => (await resultOf<{ result: object }>(await send(after, session))).result
    expect(await ended()).toMatchObject({ structuredContent: { status: 'FINISHED' } })
    // Nor is what a client sends under the id of a call that was over when it was cancelled.
    await send({ ...cancelled, params: { requestId: after.id } }, session)
    expect(await ended()).toMatchObject({ structuredContent: { status: 'FINISHED' } })
  })

  test('is started as any other, in the name of the client, and held to the schema', async () => {
    gateway.servers.watching = async function* () {
      yield { updates: [] }
      yield { updates: [{ position: '1', update: { case: 'end', value: Status.FINISHED } }] }
    }
    const hello = {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'Désk\u0007top', version: '1' } },
    }
    const session = (await send(hello)).headers.get('mcp-session-id') ?? ''
    expect(session).toMatch(/^[!-~]+$/)
    const { result } = await resultOf<{ result: object }>(await send(runHello, { 'mcp-session-id': session }))
    expect(result).toMatchObject({ structuredContent: { executionId: EXECUTION_ID, status: 'FINISHED' } })
    const { request, context } = gateway.servers.received.findLast(({ method }) => method === 'startExecution')!
    expect(request).toMatchObject({ checksParameters: true, parameters: Buffer.from('{"name":"Ada"}') })
    expect(context.principal).toMatchObject({ team: 'demo', name: 'ci', initiatedBy: 'mcp:Désk top', scope: 'run' })
  })

  test('that lasts is answered by its id, and how to wait for it', async () => {
    gateway.servers.answers.set('getExecution', () => ({
      ...execution,
      status: Status.RUNNING,
      returnValue: undefined,
    }))
    gateway.servers.watching = async function* () {
      yield { updates: [] }
      await new Promise(() => undefined)
    }
    const { result } = await resultOf<{ result: { content: { text: string }[] } }>(await send(runHello))
    expect(result).toMatchObject({
      isError: false,
      structuredContent: { executionId: EXECUTION_ID, status: 'RUNNING' },
    })
    expect(result.content[1]?.text).toContain(`Use wait_execution with the executionId ${EXECUTION_ID}`)
  })
})
