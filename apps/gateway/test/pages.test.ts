import { ConfigurationError, Environment } from '@automation/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientAddress } from '../src/http/client-address.ts'
import { readGatewayConfig } from '../src/service.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

describe('the document', () => {
  test('names each operation once, with its scope, and no schema that is not there', async () => {
    const document = (await (await gateway.request('GET', '/openapi.json')).json()) as {
      openapi: string
      paths: Record<string, Record<string, { security?: unknown; operationId: string }>>
      components: { schemas: Record<string, unknown> }
    }
    expect(document.openapi).toBe('3.1.0')
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    )
    const ids = operations.map((one) => one.operationId)
    expect(ids).not.toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
    for (const { path, security } of operations) {
      if (path.endsWith('/auth/token') || path.includes('/storage/signed/')) expect(security).toBeUndefined()
      else if (path.includes('/rest/')) expect(security).toContainEqual({ oauth2: ['executor'] })
    }
    for (const [, name] of JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g))
      expect(document.components.schemas).toHaveProperty(name as string)
  })
})

/** Headers of any answer, or of any to a webhook. */
const EVERYWHERE = new Set([
  'Cache-Control',
  'X-Request-Id',
  'Retry-After',
  'X-Content-Type-Options',
  'Content-Security-Policy',
])

describe('what the document says', () => {
  type Schema = Record<string, unknown> & { properties: Record<string, Schema>; required?: string[] }
  type Answers = Record<string, { $ref?: string; headers?: object }>
  const read = async () =>
    (await (await gateway.request('GET', '/openapi.json')).json()) as {
      paths: Record<
        string,
        Record<string, { responses: Answers & Record<string, { content: Record<string, { schema: Schema }> }> }>
      >
      components: { schemas: Record<string, Schema>; responses: Answers }
    }

  test('of pages, runs, variables and scripts holds', async () => {
    const { schemas } = (await read()).components
    for (const name of ['page', 'limit', 'total'])
      expect(schemas['ProcessesPaginatedResult']!.properties[name]).toMatchObject({ type: 'integer' })
    expect(schemas['ExecutionSettings']!.required).toEqual(['timeout'])
    expect(schemas['ExecutionSettingsInput']!.properties['timeout']).toMatchObject({ minimum: 100 })
    expect(schemas['CreateTeamVariableInput']!.required).toBeUndefined()
    for (const name of ['CreateScriptInput', 'UpdateScriptInput'])
      for (const field of Object.values(schemas[name]!.properties)) expect(field['deprecated']).toBe(true)
  })

  test('of answers and their headers holds', async () => {
    const { paths, components } = await read()
    const rest = '/api/{team}/rest'
    const headersOf = (path: string, method: string, status: string) => {
      const response = paths[path]![method]!.responses[status]
      const described = components.responses[response?.$ref?.split('/').at(-1) ?? ''] ?? response
      return Object.keys(described?.headers ?? {}).filter((name) => !EVERYWHERE.has(name))
    }
    const ofRun = ['Idempotency-Replayed', 'Svc-Execution-ID']
    expect(headersOf(`${rest}/processes/{identifier}/execute`, 'post', '202').toSorted()).toEqual([
      'Idempotency-Replayed',
      'Location',
      'Svc-Execution-ID',
    ])
    expect(headersOf(`${rest}/processes/{identifier}/execute-sync`, 'post', '203').toSorted()).toEqual(ofRun)
    expect(headersOf(`${rest}/executions/{id}/rerun`, 'post', '202').toSorted()).toEqual([
      'Location',
      'Svc-Execution-ID',
    ])
    for (const status of ['200', '204', '408', '429', '500'])
      expect(headersOf('/api/{team}/webhooks/{slug}', 'post', status).toSorted()).toEqual(ofRun)
    expect(Object.keys(paths[`${rest}/auth/token`]!['post']!.responses)).not.toContain('429')
    for (const methods of Object.values(paths))
      for (const { responses } of Object.values(methods)) expect(responses).toHaveProperty('503')
  })
})

describe('the API page', () => {
  test('comes from here alone, under a strict policy', async () => {
    const response = await gateway.request('GET', '/docs')
    const page = await response.text()
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
    expect(page).not.toMatch(/https?:|<script>/)
    for (const [, path] of page.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const file = await gateway.request('GET', path as string)
      expect([path, file.status]).toEqual([path, 200])
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(50)
    }
  })

  test.each([
    '/docs/package.json',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/index.html',
    '/docs/__proto__',
  ])('gives nothing else: %s', async (path) => {
    expect((await gateway.request('GET', path)).status).toBe(404)
  })
})

test.each(['/livez', '/readyz', '/openapi.json', '/docs', '/.well-known/jwks.json'])(
  'another method on %s is refused, and it says which are possible',
  async (path) => {
    const response = await gateway.request('POST', path)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  },
)

describe('operators', () => {
  test('see that it lives, is ready, and what it did', async () => {
    expect((await gateway.request('GET', '/livez')).status).toBe(200)
    await expect.poll(async () => (await gateway.request('GET', '/readyz')).status).toBe(200)
    await gateway.rest('GET', '/processes/hello')
    expect(await gateway.metrics()).toContain('route="/api/{team}/rest/processes/{identifier}",status="200"')
  })

  test('alone see details and metrics: the public port tells whether it serves, and no more', async () => {
    await expect.poll(async () => (await gateway.request('GET', '/readyz')).json()).toEqual({ status: 'ready' })
    expect((await gateway.request('GET', '/metrics')).status).toBe(404)
  })

  test('see that it is not ready without keys', async () => {
    const lost = await startGateway()
    lost.servers.answers.set('listSigningKeys', () => {
      throw new Error('away')
    })
    try {
      const response = await lost.request('GET', '/readyz')
      expect([200, 503]).toContain(response.status)
    } finally {
      await lost.stop()
    }
  })
})

describe('configuration', () => {
  test.each([
    [{}, [8081, 8082]],
    [{ PORT: '9000' }, [9001, 9002]],
    [{ PORT: '9000', SANDBOX_GRPC_PORT: '7000' }, [9001, 7000]],
    [{ PORT: '0' }, [0, 0]],
  ])('the ports for sandboxes follow that of the gateway: %j', (settings, ports) => {
    const { sandboxes } = readGatewayConfig(new Environment(settings))
    expect([sandboxes.publicPort, sandboxes.grpcPort]).toEqual(ports)
  })

  test('all faults are named at once', () => {
    const env = new Environment({
      PORT: 'x',
      HEADER_PREFIX: 'S vc',
      TRUSTED_PROXIES: '10.0.0.0/99',
      CORS_ORIGINS: 'https://a/b',
      OIDC_ISSUER: 'https://id',
    })
    readGatewayConfig(env)
    expect(() => env.check()).toThrow(ConfigurationError)
    expect(() => env.check()).toThrow(
      /PORT[^]*HEADER_PREFIX[^]*CORS_ORIGINS[^]*TRUSTED_PROXIES[^]*OIDC_AUDIENCE[^]*OIDC_JWKS_URL/,
    )
  })
})

describe('the address of a caller', () => {
  const trusting = clientAddress(['10.0.0.0/8', '::1'])

  test.each([
    ['10.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['10.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.2', '1.2.3.4'],
    ['9.9.9.9', '1.2.3.4', '9.9.9.9'],
    ['::ffff:10.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['::1', '2001:db8::1', '2001:db8::1'],
    ['10.0.0.1', 'nonsense', '10.0.0.1'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '10.0.0.2', '10.0.0.2'],
  ])('from %s with %s is %s', (remote, forwarded, expected) => {
    expect(trusting(remote, forwarded)).toBe(expected)
  })

  test('X-Forwarded-For is not believed where no proxy is trusted', () => {
    expect(clientAddress([])('::ffff:9.9.9.9', '1.2.3.4')).toBe('9.9.9.9')
  })
})
