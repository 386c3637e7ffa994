import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { memoryAtRest, until } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { process } from './contract-records.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

async function connected(): Promise<Socket> {
  const socket = connect(Number(new URL(gateway.base).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`

test('requests of one connection are answered one after the other, so that their answers are not all held', async () => {
  gateway.servers.answers.set('getProcess', () => ({ ...process, sourceCode: 'x'.repeat(4_000_000) }))
  const path = '/api/demo/rest/processes/hello'
  const authorization = `Authorization: Bearer ${await gateway.servers.token()}\r\n`
  await (await gateway.request('GET', path)).text()
  const before = memoryAtRest()
  const socket = await connected()
  socket.write(request(path, authorization).repeat(15))
  await once(socket, 'readable')
  // What has come before is known to be answered as far as it can be.
  await (await gateway.request('GET', path)).text()
  expect(memoryAtRest() - before).toBeLessThan(30 * 1024 * 1024)
  gateway.servers.answers.delete('getProcess')
  socket.destroy()
})

test('all are answered, in their order', async () => {
  const socket = await connected()
  socket.write(
    request('/livez').repeat(13) +
      request('/nowhere') +
      request('/livez') +
      request('/readyz', 'Connection: close\r\n'),
  )
  const statuses = [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
  expect(statuses).toEqual([...Array<string>(13).fill('200'), '404', '200', '200'])
})

test.each([
  ['more and more', request('/livez').repeat(20)],
  ['with large heads', request('/livez', `X-Large: ${'x'.repeat(15_000)}\r\n`).repeat(6)],
  ['with bodies', `POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n${'x'.repeat(20_000)}`.repeat(6)],
])('a connection on which is asked %s before an answer is cut', async (_, more) => {
  let answer: (value: object) => void = () => undefined
  gateway.servers.answers.set('runExecution', () => new Promise<object>((resolve) => (answer = resolve)))
  const asked = () => gateway.servers.received.filter(({ method }) => method === 'runExecution').length
  const before = asked()
  const socket = await connected()
  socket.on('error', () => undefined)
  const closed = once(socket, 'close')
  socket.write(request('/api/demo/webhooks/hello'))
  await until(() => asked() > before, { what: 'the first to be asked', timeoutMs: 5000 })
  socket.write(more)
  await closed
  gateway.servers.answers.delete('runExecution')
  answer({})
})
