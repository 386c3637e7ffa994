import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scopes } from '@automation/contract/scopes'
import { process, sandbox } from './contract-records.ts'
import { Status } from '@automation/contract/execution/v1/execution'
import { SANDBOX_ID, PROCESS_ID, SCHEDULE_ID } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

interface Described {
  paths: Record<string, Record<string, { 'x-required-scope'?: string; security?: Record<string, string[]>[] }>>
}

let gateway: GatewayForTests
let operations: { method: string; path: string; scope: string | undefined; security: string[] }[]

beforeAll(async () => {
  gateway = await startGateway()
  const { paths } = (await (await gateway.request('GET', '/openapi.json')).json()) as Described
  operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/{team}/rest/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { 'x-required-scope': scope, security = [] }]) => ({
        method: method.toUpperCase(),
        path: path.replace('{team}', 'demo').replaceAll(/\{\w+\}/g, PROCESS_ID),
        scope,
        security: security.flatMap(({ oauth2 = [] }) => oauth2),
      })),
    )
})
afterAll(() => gateway.stop())

const as = async (scope: string) => ({ authorization: `Bearer ${await gateway.servers.token({ scope })}` })

test('every operation is for who has its scope, or executor where that is not admin, and for nobody else', async () => {
  const words = Object.keys(scopes)
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.subarray(words), async (at, given) => {
      const operation = operations[at % operations.length]!
      const { method, path, scope } = operation
      const before = gateway.servers.received.length
      const response = await gateway.request(method, path, { headers: await as(given.join(' ')) })
      const may = scope === undefined || given.includes(scope) || (scope !== 'admin' && given.includes('executor'))
      if (may) {
        await response.body?.cancel()
        expect(response.status).not.toBe(403)
      } else {
        expect(await problemOf(response)).toMatchObject({ status: 403, code: 'scope_missing', requiredScope: scope })
        expect(gateway.servers.received).toHaveLength(before)
      }
    }),
    { numRuns: 500 },
  )
})

test('the document says it of what is at the host, too', async () => {
  const { paths } = (await (await gateway.request('GET', '/openapi.json')).json()) as Described
  expect(paths['/run']?.['post']).toMatchObject({ 'x-required-scope': 'run', 'x-also-required-scope': 'build' })
  expect(paths['/run/whoami']?.['get']).not.toHaveProperty('x-required-scope')
})

test('the document says it of each operation', () => {
  for (const { scope, security } of operations)
    expect(security).toEqual(scope === undefined ? [] : scope === 'admin' ? ['admin'] : ['executor', scope])
  expect(new Set(operations.map(({ scope }) => scope))).toContain('build')
})

describe('credentials in records', () => {
  test.each([
    ['read', ''],
    ['read run mcp:build', ''],
    ['read build', 'the key'],
    ['executor', 'the key'],
  ])('a token with %s sees the key of a sandbox as "%s"', async (scope, key) => {
    const headers = await as(scope)
    gateway.servers.answers.set('getSandbox', () => ({ ...sandbox, grpcApiKey: 'the key' }))
    gateway.servers.answers.set('listSandboxes', () => ({ sandboxes: [{ ...sandbox, grpcApiKey: 'the key' }] }))
    const one = await gateway.request('GET', `/api/demo/rest/sandboxes/${SANDBOX_ID}`, { headers })
    expect(await one.json()).toMatchObject({ grpcApiKey: key })
    const list = await gateway.request('GET', '/api/demo/rest/sandboxes', { headers })
    expect(await list.json()).toMatchObject({ data: [{ grpcApiKey: key }] })
  })

  test.each([
    ['read', undefined],
    ['run read', undefined],
    ['build read', 'secret'],
    ['executor', 'secret'],
  ])('a token with %s sees the token of a public process as %s', async (scope, token) => {
    const headers = await as(scope)
    const settings = { publicEnabled: true, publicToken: 'secret' }
    gateway.servers.answers.set('getProcess', () => ({ ...process, settings }))
    gateway.servers.answers.set('listProcesses', () => ({ processes: [{ ...process, settings }] }))
    const read = async (path: string) => (await gateway.request('GET', `/api/demo/rest${path}`, { headers })).json()
    const publicConfig = { enabled: true, ...(token !== undefined && { token }) }
    expect(await read(`/processes/${PROCESS_ID}`)).toMatchObject({ settings: { publicConfig } })
    expect(JSON.stringify(await read('/processes')).includes('secret')).toBe(token !== undefined)
    expect(JSON.stringify(await read(`/processes/${PROCESS_ID}`)).includes('secret')).toBe(token !== undefined)
  })
})

describe('an API token alone', () => {
  test.each([
    ['read', 'run'],
    ['build', 'run'],
    ['run', 'build'],
  ])('with %s runs no code, as that needs %s as well; whoami names what it has', async (scope, requiredScope) => {
    gateway.servers.answers.set('exchangeToken', async () => ({ accessToken: await gateway.servers.token({ scope }) }))
    const headers = { 'x-api-token': `sk-${Buffer.from('sa-demo-abcdefgh:secret').toString('base64')}` }
    const refused = await gateway.request('POST', '/run', { headers, body: '{"code":"return 1"}' })
    expect(await problemOf(refused)).toMatchObject({ status: 403, code: 'scope_missing', requiredScope })
    const whoami = await gateway.request('GET', '/run/whoami', { headers })
    expect(await whoami.json()).toMatchObject({ teamId: 'demo', clientId: 'sa-demo-abcdefgh', scopes: [scope] })
    const exchange = gateway.servers.received.findLast(({ method }) => method === 'exchangeToken')
    expect(exchange?.context.principal.ip).toBe('127.0.0.1')
  })

  test('runs code for whom its options name, and removes its process for the same', async () => {
    const scope = 'run build'
    gateway.servers.answers.set('exchangeToken', async () => ({ accessToken: await gateway.servers.token({ scope }) }))
    const apiToken = `sk-${Buffer.from('sa-demo-abcdefgh:secret').toString('base64')}`
    const headers = { 'x-api-token': apiToken, 'content-type': 'application/json' }
    const body = JSON.stringify({ code: 'return 1', options: { initiatedBy: 'ann', removeOnDone: true } })
    const answer = await gateway.request('POST', '/run', { headers, body })
    expect(answer.status, await answer.text()).toBe(200)
    const whoFor = (name: string) =>
      gateway.servers.received.findLast(({ method }) => method === name)?.context.principal.initiatedBy
    expect([whoFor('takeProcess'), whoFor('releaseProcess')]).toEqual(['ann', 'ann'])
  })
})

test('who may start runs and not read is told neither what the code failed with nor what a schedule gives', async () => {
  const headers = { ...(await as('run')), 'content-type': 'application/json' }
  const execute = (given: Record<string, string>) =>
    gateway.request('POST', `/api/demo/rest/processes/${PROCESS_ID}/execute-sync`, { headers: given, body: '{}' })
  gateway.servers.outcome = { status: Status.ERROR, explanation: 'Error: secret' }
  expect(await (await execute(headers)).text()).not.toContain('secret')
  expect(await (await execute({ 'content-type': 'application/json' })).text()).toContain('secret')
  gateway.servers.outcome = {}
  const run = await gateway.request('POST', `/api/demo/rest/schedules/${SCHEDULE_ID}/run`, { headers })
  expect([run.status, Object.keys((await run.json()) as object)]).toEqual([
    201,
    expect.not.arrayContaining(['parameters']),
  ])
})

test('a draft needs the scope build beside run, wherever it is started', async () => {
  const start = async (scope: string, path: string, body: object) => {
    const headers = { ...(await as(scope)), 'content-type': 'application/json' }
    return gateway.request('POST', `/api/demo/rest/processes/${path}`, { headers, body: JSON.stringify(body) })
  }
  const draft = { programmingLanguage: 'PYTHON', sourceCode: 'return 1' }
  for (const path of ['greeting/execute', 'greeting/execute-sync', 'draft/execute', 'draft/execute-sync']) {
    const refused = await start('run read', path, { draft })
    expect(await problemOf(refused)).toMatchObject({ status: 403, code: 'scope_missing', requiredScope: 'build' })
    for (const [scope, body] of [
      ['run', {}],
      ['run build', { draft }],
    ] as const)
      expect((await start(scope, path, body)).status).not.toBe(403)
  }
})
