import { ConfigurationError, Environment } from '@automation/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientAddress } from '../src/http/caller.ts'
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
      else if (path.includes('/rest/'))
        expect(security).toContainEqual({ oauth2: [path.includes('/service-accounts') ? 'admin' : 'executor'] })
    }
    for (const [, name] of JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g))
      expect(document.components.schemas).toHaveProperty(name as string)
  })
})

describe('the API page', () => {
  test('comes from here alone, under a strict policy', async () => {
    const response = await gateway.request('GET', '/docs')
    const page = await response.text()
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
    expect(page).not.toMatch(/https?:|<script>/)
    for (const [, path] of page.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const file = await gateway.request('GET', new URL(path as string, `${gateway.base}/docs`).pathname)
      expect([path, file.status]).toEqual([path, 200])
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(50)
    }
  })

  test.each(['/docs', '/docs/'])(
    'has all that it needs beside itself, as behind a prefix that a proxy takes away: %s',
    async (path) => {
      const page = new URL(`http://proxy.test/automation${path}`)
      const addresses = [...(await (await gateway.request('GET', path)).text()).matchAll(/(?:src|href)="([^"]+)"/g)]
      expect(addresses.map(([, address]) => new URL(address as string, page).pathname)).toEqual(
        ['swagger-ui.css', 'favicon-32x32.png', 'swagger-ui-bundle.js', 'start.js'].map(
          (name) => `/automation/docs/${name}`,
        ),
      )
    },
  )

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

  test('see no more routes for however many names callers make up', async () => {
    for (const team of ['made-up-1', 'made-up-2']) {
      const path = `/.well-known/oauth-protected-resource/api/${team}/rest`
      expect((await gateway.request('GET', path)).status).toBe(200)
    }
    const metrics = await gateway.metrics()
    expect(metrics).toContain('route="/.well-known/oauth-protected-resource/api/{team}/rest"')
    expect(metrics).not.toContain('made-up')
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

  test.each([
    ['http://id.test/keys', false],
    ['http://127.0.0.1.id.test/keys', false],
    ['https://id.test/keys', true],
    ['http://127.0.0.1:9000/keys', true],
  ])('keys of an issuer come over TLS or from this machine: %s', (address, isTaken) => {
    const issuer = { OIDC_ISSUER: 'https://id.test', OIDC_AUDIENCE: 'svc', OIDC_JWKS_URL: address }
    const env = new Environment(issuer)
    readGatewayConfig(env)
    expect(env.faults()).toEqual(isTaken ? [] : [expect.stringContaining('OIDC_JWKS_URL must be https://')])
  })

  test.each([
    ['http://id.test', false],
    ['id.test', false],
    ['ftp://127.0.0.1', false],
    ['https://id.test/realms/a', true],
    ['http://localhost:9000', true],
  ])('an issuer is at https or on this machine: %s', (issuer, isTaken) => {
    const env = new Environment({ OIDC_ISSUER: issuer, OIDC_AUDIENCE: 'svc', OIDC_JWKS_URL: 'https://id.test/keys' })
    readGatewayConfig(env)
    expect(env.faults()).toEqual(isTaken ? [] : [expect.stringContaining('OIDC_ISSUER must be a URL with https://')])
  })

  test.each(['10.0.0.0/', '10.0.0.0/8/', '10.0.0.0/ 8', '10.0.0.0/33', '::/129', 'proxy'])(
    'a trusted proxy is an address or a network: not %j',
    (entry) => {
      const env = new Environment({ TRUSTED_PROXIES: entry })
      readGatewayConfig(env)
      expect(() => env.check()).toThrow(/TRUSTED_PROXIES/)
    },
  )
})

describe('the address of a caller', () => {
  const trusting = clientAddress(['10.0.0.0/8', '::1'])

  test.each([
    ['10.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['10.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.2', '1.2.3.4'],
    ['9.9.9.9', '1.2.3.4', '9.9.9.9'],
    ['::ffff:10.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['::1', '2001:db8::1', '2001:db8::1'],
    ['10.0.0.1', '[fe80::1%eth0]:443', 'fe80::1'],
    ['fe80::1%eth0', '1.2.3.4', 'fe80::1'],
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
