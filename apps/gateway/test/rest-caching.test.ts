import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROCESS_ID } from './contract-servers.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

test.each([
  ['GET', `/processes/${PROCESS_ID}`, 200],
  ['DELETE', `/processes/${PROCESS_ID}`, 200],
  ['GET', '/nothing', 404],
  ['PUT', '/processes', 405],
  ['OPTIONS', '/processes', 204],
])('%s %s is neither sniffed nor kept in a cache, answer %i', async (method, path, status) => {
  const answer = await gateway.rest(method, path)
  const guards = [answer.headers.get('x-content-type-options'), answer.headers.get('cache-control')]
  expect([answer.status, ...guards]).toEqual([status, 'nosniff', 'no-store'])
})
