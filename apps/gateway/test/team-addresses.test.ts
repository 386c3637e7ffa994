import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { unavailable } from '@automation/errors'
import { until } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SANDBOX_ID } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

const PROXY = { TRUSTED_PROXIES: '127.0.0.1' }
const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

let gateway: GatewayForTests
let addresses: { team: string; ranges: string[] }[] = []
let revision = 1n

beforeAll(async () => {
  gateway = await startGateway(PROXY)
  gateway.servers.answers.set('listTeamLimits', () => ({ revision, gateways: 1, addresses }))
})
afterAll(() => gateway.stop())

const from = (address: string, path: string, headers: Record<string, string> = {}) =>
  gateway.request('GET', path, { headers: { 'x-forwarded-for': address, ...headers } })

/** The status that a terminal is answered with. */
async function terminalFrom(address: string): Promise<number | undefined> {
  const authorization = `Bearer ${await gateway.servers.token()}`
  const call = request(`${gateway.base}/api/demo/rest/sandboxes/${SANDBOX_ID}/terminal`, {
    headers: { ...upgrade, 'x-forwarded-for': address, authorization },
  })
  call.end()
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode
}

/** What a caller is told, but for what differs in every answer. */
async function told(response: Response): Promise<unknown> {
  const { code, title, detail } = await problemOf(response)
  return [response.status, code, title, detail]
}

test('beyond the addresses of its team a token is that of a stranger, wherever it is used; no later than 5 s after', async () => {
  addresses = [{ team: 'demo', ranges: ['192.0.2.0/24', '2001:db8::/32'] }]
  revision++
  const status = async (address: string) => (await from(address, '/api/demo/rest/team')).status
  await until(async () => (await status('198.51.100.1')) === 403, {
    what: 'the addresses to be in force',
    timeoutMs: 5000,
  })
  const inside = ['192.0.2.9', '2001:db8::1', '::ffff:192.0.2.1', '192.0.2.9:5000', '[2001:db8::1]:5000']
  for (const address of inside) expect(await status(address), address).toBe(200)
  const stranger = await told(await from('192.0.2.9', '/api/strangers/rest/team'))
  expect(stranger).toEqual([403, 'forbidden', expect.any(String), expect.any(String)])
  const paths = ['team', 'events', 'storage/objects', 'executions', `sandboxes/${SANDBOX_ID}/files/a`]
  for (const path of paths)
    expect(await told(await from('198.51.100.1', `/api/demo/rest/${path}`)), path).toEqual(stranger)
  expect(await terminalFrom('198.51.100.1')).toBe(403)
  const exchange = async (address: string) => {
    const headers = { 'x-forwarded-for': address, 'x-api-token': 'an API token' }
    return problemOf(await gateway.request('POST', '/api/demo/rest/auth/token', { headers }))
  }
  expect(await exchange('198.51.100.1')).toMatchObject({ status: 401, code: 'api_token_invalid' })
  // What asks for no token of the team is not under it.
  expect((await from('198.51.100.1', '/api/demo/webhooks/hello')).ok).toBe(true)
  addresses = []
  revision++
  await until(async () => (await status('198.51.100.1')) === 200, { what: 'the addresses to be gone', timeoutMs: 5000 })
})

test('a gateway that has never read the addresses lets nobody in', async () => {
  const blind = await startGateway(PROXY, {}, ({ answers }) =>
    answers.set('listTeamLimits', () => {
      throw unavailable('away')
    }),
  )
  try {
    expect((await blind.rest('GET', '/team')).status).toBe(503)
  } finally {
    await blind.stop()
  }
})
