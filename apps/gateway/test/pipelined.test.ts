import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { memoryAtRest, until } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
  await gateway.request('GET', '/docs/swagger-ui-bundle.js')
  const before = memoryAtRest()
  const socket = await connected()
  socket.pause()
  socket.write(request('/docs/swagger-ui-bundle.js').repeat(60))
  // What has come behind them is known to be read.
  const calls = () => gateway.metrics()
  await until(async () => /^gateway_connections [1-9]/m.test(await calls()), {
    what: 'the connection',
    timeoutMs: 5000,
  })
  await gateway.request('GET', '/docs/swagger-ui-bundle.js').then((answer) => answer.text())
  expect(memoryAtRest() - before).toBeLessThan(30 * 1024 * 1024)
  socket.destroy()
})

test('all are answered, in their order', async () => {
  const socket = await connected()
  socket.write(
    request('/livez') + request('/nowhere') + request('/livez') + request('/readyz', 'Connection: close\r\n'),
  )
  const statuses = [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
  expect(statuses).toEqual(['200', '404', '200', '200'])
})

test('a connection on which more and more is asked before an answer is cut', async () => {
  let answer: (value: object) => void = () => undefined
  gateway.servers.answers.set('runExecution', () => new Promise<object>((resolve) => (answer = resolve)))
  const socket = await connected()
  socket.on('error', () => undefined)
  const closed = once(socket, 'close')
  socket.write(request('/api/demo/webhooks/hello'))
  await until(() => gateway.servers.received.some(({ method }) => method === 'runExecution'), {
    what: 'the first to be asked',
    timeoutMs: 5000,
  })
  socket.write(request('/livez').repeat(200))
  await closed
  gateway.servers.answers.delete('runExecution')
  answer({})
})
