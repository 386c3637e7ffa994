import { connect } from 'node:net'
import { Environment } from '@automation/service'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { readGatewayConfig } from '../src/service.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway({ WEBHOOK_DOMAIN: 'Hooks.example.com' })
})
afterAll(() => gateway.stop())
beforeEach(() => gateway.servers.answers.clear())

/** The answer to a request at a host, as text; fetch sets that header by itself. */
async function at(host: string, path: string, method = 'GET'): Promise<string> {
  const socket = connect(gateway.gateway.port(), '127.0.0.1')
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  return Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>)).toString('latin1')
}
const policyIn = (answer: string) => /^content-security-policy: (.*)\r$/im.exec(answer)?.[1]
const hook = '/api/demo/webhooks/hello'

test.each(['demo.hooks.example.com', 'DEMO.Hooks.Example.Com:8080', 'demo.hooks.example.com.'])(
  'at %s a page of the team is what the process says',
  async (host) => {
    const policy = "default-src 'self'; sandbox allow-scripts allow-same-origin"
    const headers = { 'Content-Security-Policy': policy, 'Clear-Site-Data': '"*"' }
    gateway.servers.returns(JSON.stringify({ status: 203, headers, body: 'page' }))
    const answer = await at(host, hook)
    expect(answer).toMatch(/^HTTP\/1\.1 203 /)
    expect(policyIn(answer)).toBe(policy)
    expect(answer).toMatch(/^x-content-type-options: nosniff\r$/im)
    expect(answer).not.toMatch(/clear-site-data/i)
    gateway.servers.returns('"page"')
    expect(policyIn(await at(host, hook))).toBeUndefined()
  },
)

test.each([
  ['demo', '/api/other/webhooks/hello'],
  ['other', hook],
  ['demo', '/api/demo/rest/team'],
  ['demo', '/docs'],
  ['demo', '/livez'],
  ['demo', '/'],
  ['x.demo', hook],
  ['', hook],
])('at %s.hooks.example.com there is no %s', async (team, path) => {
  const before = gateway.servers.received.length
  for (const method of ['GET', 'OPTIONS'])
    expect(await at(`${team}.hooks.example.com`, path, method)).toMatch(/^HTTP\/1\.1 404 /)
  expect(gateway.servers.received).toHaveLength(before)
})

test.each(['127.0.0.1', 'evil-hooks.example.com', 'hooks.example.com', 'demo.hooks.example.com.evil.example'])(
  'at %s all is as without such a domain',
  async (host) => {
    gateway.servers.returns('"page"')
    expect(policyIn(await at(host, hook))).toBe('sandbox')
    expect(await at(host, '/livez')).toMatch(/^HTTP\/1\.1 200 /)
  },
)

test.each([
  ['hooks.example.com:8080', /WEBHOOK_DOMAIN must be a domain without a port/],
  ['.example.com', /WEBHOOK_DOMAIN must be a domain/],
  ['example.com', /WEBHOOK_DOMAIN must not be one that the host of PUBLIC_URL is below/],
])('%s is refused as a domain', (WEBHOOK_DOMAIN, reason) => {
  const env = new Environment({ PUBLIC_URL: 'https://automation.example.com', WEBHOOK_DOMAIN })
  readGatewayConfig(env)
  expect(() => env.check()).toThrow(reason)
})
