import { Environment } from '@automation/service'
import { afterEach, expect, test } from 'vitest'
import { publicPortUrl, sandboxAddresses } from '../src/sandbox-ports/addresses.ts'
import { readGatewayConfig } from '../src/service.ts'
import { SANDBOX_ID } from './contract-servers.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests | undefined

afterEach(async () => {
  await gateway?.stop()
  gateway = undefined
})

interface ShownAddresses {
  grpcServerUrl: string
  publicUrls: Record<string, string>
}

const outer = 'https://outer.example.com:8443'

test.each([
  [{ SANDBOX_URLS: 'grpc=https://grpc.example.com/' }, { grpcServerUrl: 'https://grpc.example.com' }],
  [
    { SANDBOX_URLS: `public=${outer}, grpc=https://both.example.com` },
    { publicUrls: { 80: `${outer}/${SANDBOX_ID}/80/` }, grpcServerUrl: 'https://both.example.com' },
  ],
  [
    { SANDBOX_URLS: `public=${outer}`, SANDBOX_PUBLIC_DOMAIN: 'boxes.example.com' },
    { publicUrls: { 80: `https://80-${SANDBOX_ID}.boxes.example.com:8443` } },
  ],
  [
    { SANDBOX_URLS: 'public=https://x', SANDBOX_PUBLIC_DOMAIN: 'boxes.example.com:443' },
    { publicUrls: { 80: `https://80-${SANDBOX_ID}.boxes.example.com:443` } },
  ],
  [{ SANDBOX_PUBLIC_DOMAIN: 'boxes.example.com' }, { publicUrls: { 80: `http://80-${SANDBOX_ID}.boxes.example.com` } }],
])('with %j sandboxes are told to be there', async (settings, shown) => {
  gateway = await startGateway(settings)
  expect((await (await gateway.rest('GET', `/sandboxes/${SANDBOX_ID}`)).json()) as ShownAddresses).toMatchObject(shown)
})

test.each([
  ['http://localhost:8080', 'http://80-id.boxes.test:8081'],
  ['https://gateway.test:8443', 'http://80-id.boxes.test:8081'],
  ['https://gateway.test', 'https://80-id.boxes.test'],
])('beside a gateway at %s the hosts of a domain are where something listens', (gatewayUrl, url) => {
  const nothing = { publicUrl: undefined, grpcUrl: undefined, grpcIsTls: false }
  const settings = { ...nothing, gatewayUrl, publicDomain: 'boxes.test', publicPort: 8081, grpcPort: 8082 }
  expect(publicPortUrl(sandboxAddresses(settings), 'id', 80)).toBe(url)
})

test.each([
  ['public', 'ftp://host'],
  ['public', 'https://host/path'],
  ['grpc', 'host:8082'],
  ['grpc', 'https://me:secret@host'],
])('the %s address of sandboxes can not be %s', (name, value) => {
  const env = new Environment({ SANDBOX_URLS: `${name}=${value}` })
  readGatewayConfig(env)
  expect(() => env.check()).toThrow(new RegExp(`SANDBOX_URLS: ${name} must be http://`))
  expect(() => env.check()).not.toThrow(/secret/)
})

test('a domain and an address of different ports are a fault', () => {
  const env = new Environment({ SANDBOX_URLS: 'public=https://x', SANDBOX_PUBLIC_DOMAIN: 'boxes.example.com:8443' })
  readGatewayConfig(env)
  expect(() => env.check()).toThrow(/SANDBOX_PUBLIC_DOMAIN must have no port/)
})
