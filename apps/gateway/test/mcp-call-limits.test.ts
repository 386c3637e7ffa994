import { afterEach, expect, test } from 'vitest'
import { process as stored } from './contract-records.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

const tools = Array.from({ length: 40 }, (_, n) => ({
  ...stored,
  id: crypto.randomUUID(),
  slug: `tool-${n}`,
  tags: ['mcp-tool'],
}))

let gateway: GatewayForTests
afterEach(() => gateway.stop())

const startWith = (callsPerSecond: bigint) =>
  startGateway({}, {}, ({ answers }) => {
    const limits = [{ team: 'demo', name: 'callsPerSecond', value: callsPerSecond }]
    answers.set('listTeamLimits', () => ({ revision: 1n, gateways: 1, limits }))
    answers.set('listProcesses', () => ({ processes: tools, page: { total: tools.length } }))
  })

async function statusOf(body: unknown, query = ''): Promise<number> {
  const answer = await gateway.request('POST', `/api/demo/mcp${query}`, {
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(body),
  })
  await answer.text()
  return answer.status
}

test('each message of a batch counts as a call of the team, and it has at most ten', async () => {
  gateway = await startWith(9n)
  const batchOf = (length: number) => Array.from({ length }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
  await expect.poll(() => statusOf(batchOf(10))).toBe(429)
  await expect.poll(() => statusOf(batchOf(1))).toBe(200)
  await expect.poll(() => statusOf(batchOf(11))).toBe(400)
})

test('what a list of tools reads counts as calls of the team, for which its next requests wait', async () => {
  gateway = await startWith(10n)
  const team = () => gateway.request('GET', '/api/demo/rest/team')
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  // By then the limit is known here.
  await expect.poll(async () => (await team()).status).toBe(429)
  // Where the next request came late, the list is asked for anew: some of the wait has passed by then.
  const waitBehindList = async () => {
    if ((await statusOf(list, '?alias=live')) !== 200) return 0
    const next = await team()
    expect(next.status).toBe(429)
    return Number(next.headers.get('retry-after'))
  }
  await expect.poll(waitBehindList).toBeGreaterThan(2)
})
