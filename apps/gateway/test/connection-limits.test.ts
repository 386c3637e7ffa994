import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { proxies } from '../src/http/caller.ts'
import { ConnectionLimits } from '../src/http/connection-limits.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'
import { answerTo } from './late-reader.ts'

let gateway: GatewayForTests | undefined
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await gateway?.stop()
  gateway = undefined
})

/** A connection, and all that comes on it until it is closed. */
function open(port: number): { connected: Promise<void>; text: Promise<string>; socket: Socket } {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  let came = ''
  socket.on('data', (data) => (came += data.toString('latin1')))
  socket.on('error', () => undefined)
  const connected = new Promise<void>((resolve) => socket.once('connect', resolve))
  const text = new Promise<string>((resolve) => socket.once('close', () => resolve(came)))
  return { connected, text, socket }
}

test('the public ports of sandboxes have a bound of their own', async () => {
  gateway = await startGateway({}, { maxConnections: 10 })
  const { publicPort } = gateway.gateway.sandboxPorts()
  const held = Array.from({ length: 5 }, () => open(publicPort))
  await Promise.all(held.map(({ connected }) => connected))
  const tooMany = open(publicPort)
  await tooMany.connected
  expect(await tooMany.text).toContain('"code":"too_many_connections"')
  expect((await gateway.request('GET', '/livez')).status).toBe(200)
})

test('one connection too many is told to come again, and starts nothing', async () => {
  gateway = await startGateway({}, { maxConnections: 10 })
  const port = gateway.gateway.port()
  const held = Array.from({ length: 10 }, () => open(port))
  await Promise.all(held.map(({ connected }) => connected))
  const tooMany = open(port)
  await tooMany.connected
  const before = gateway.servers.received.length
  tooMany.socket.write('POST /api/demo/webhooks/hello HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n')
  const text = await tooMany.text
  expect(text).toContain('HTTP/1.1 503 ')
  expect(text).toMatch(/retry-after: \d/i)
  expect(text).toContain('"code":"too_many_connections"')
  expect(gateway.servers.received).toHaveLength(before)
  for (const { socket } of held) socket.destroy()
  const { request } = gateway
  await expect
    .poll(() =>
      request('GET', '/livez')
        .then(({ status }) => status)
        .catch(() => 0),
    )
    .toBe(200)
})

test('one that sends a large request is told so, too', async () => {
  gateway = await startGateway({}, { maxConnections: 10 })
  const port = gateway.gateway.port()
  await Promise.all(Array.from({ length: 10 }, () => open(port).connected))
  const bytes = Buffer.alloc(8 * 1024 * 1024)
  const head = `POST /api/demo/webhooks/hello HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes.length}\r\n`
  expect(await answerTo(port, head, bytes)).toContain('"code":"too_many_connections"')
})

test('one address has its own bound, proxies and this machine have none', () => {
  const limits = new ConnectionLimits({ max: 100, maxOfAddress: 2, isProxy: proxies(['10.0.0.0/8']) })
  const leave = limits.admit('192.0.2.1')
  limits.admit('192.0.2.1')
  expect(limits.admit('192.0.2.1')).toBeUndefined()
  expect(limits.admit('192.0.2.2')).toBeDefined()
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '127.0.0.1', '::1', '::ffff:127.0.0.1'])
    for (let n = 0; n < 5; n += 1) expect(limits.admit(address), address).toBeDefined()
  leave?.()
  expect(limits.admit('192.0.2.1')).toBeDefined()
})

test('IPv6 addresses of one /64 are one client', () => {
  const limits = new ConnectionLimits({ max: 100, maxOfAddress: 2, isProxy: proxies([]) })
  const leave = limits.admit('2001:db8::1')
  expect(limits.admit('2001:db8:0:0:ffff::2')).toBeDefined()
  for (const own of ['2001:db8::3', '2001:DB8:0::192.0.2.1', '2001:db8::%eth0'])
    expect(limits.admit(own), own).toBeUndefined()
  for (const other of ['2001:db8:0:1::3', '2001:db8:1::', 'fe80::1%eth0', '::ffff:c000:201', '::ffff:192.0.2.1'])
    expect(limits.admit(other), other).toBeDefined()
  leave?.()
  expect(limits.admit('2001:db8::3')).toBeDefined()
})
