import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-for-tests.ts'

test('a client that calls on over its connection while the gateway stops is answered, and told to come no more', async () => {
  const { base, stop } = await startGateway()
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const ask = async () => {
    socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n')
    const [bytes] = (await once(socket, 'data')) as [Buffer]
    return bytes.toString('latin1')
  }
  expect(await ask()).toMatch(/^HTTP\/1.1 200 [^]*\r\nconnection: keep-alive\r\n/i)
  const ended = once(socket, 'end')
  const stopped = stop()
  expect(await ask()).toMatch(/^HTTP\/1.1 200 [^]*\r\nconnection: close\r\n/i)
  await Promise.all([ended, stopped])
  socket.destroy()
})

test('a request that comes while the gateway is held up is answered, though it stops', async () => {
  const { base, stop } = await startGateway()
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(socket, 'data')
  const stopped = stop()
  // Longer than it waits for clients to go; the request lies there unread meanwhile.
  setImmediate(() => {
    socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n')
    for (const until = performance.now() + 1500; performance.now() < until;);
  })
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  expect(bytes.toString('latin1')).toMatch(/^HTTP\/1.1 200 [^]*\r\nconnection: close\r\n/i)
  await stopped
  socket.destroy()
})
