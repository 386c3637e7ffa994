import { afterAll, beforeAll, expect, test } from 'vitest'
import { alias, process as stored, version } from './contract-records.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

test.each([
  ['a list', 'tools/list', {}, ''],
  ['a list of versions', 'tools/list', {}, '?alias=live'],
  ['a list by name', 'tools/list', {}, '?tools=hello'],
  ['a call', 'tools/call', { name: 'run_hello', arguments: {} }, ''],
])('%s reads schemas without sources, which may be large', async (_, method, params, query) => {
  const tool = { ...stored, slug: 'hello', tags: ['mcp-tool'] }
  const { answers, received } = gateway.servers
  answers.set('getProcess', () => ({ ...tool, sourceCode: undefined }))
  answers.set('listProcesses', () => ({
    processes: [{ ...tool, parametersSchema: undefined, leftOut: ['parametersSchema'] }],
    page: { total: 1 },
  }))
  answers.set('listAliases', () => ({ aliases: [alias], page: { total: 1 } }))
  answers.set('getVersion', () => ({ ...version, sourceCode: undefined, parametersSchema: stored.parametersSchema }))
  received.length = 0
  const answer = await gateway.request('POST', `/api/demo/mcp${query}`, {
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  expect(await answer.text()).toContain('"result"')
  const reads = received.filter((one) => ['getProcess', 'getVersion'].includes(one.method))
  expect(reads).not.toEqual([])
  for (const { request } of reads) expect(request).toMatchObject({ withoutSource: true })
})

test('whoever reads a process or a version has its source', async () => {
  gateway.servers.answers.clear()
  for (const path of ['/processes/hello', '/processes/hello/versions/v1'])
    expect(await (await gateway.rest('GET', path)).json()).toMatchObject({ sourceCode: 'return 1' })
  const reads = gateway.servers.received.filter((one) => ['getProcess', 'getVersion'].includes(one.method)).slice(-2)
  for (const { request } of reads) expect(request).toMatchObject({ withoutSource: false })
})
