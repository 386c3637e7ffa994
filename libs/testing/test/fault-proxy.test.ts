import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { FaultProxy } from '../src/fault-proxy.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

test('what is sent over a slow link arrives later, whole and in order, also what follows once it is fast again', async () => {
  const proxy = await proxyTo(await echo(''))
  const socket = await connectedTo(proxy)
  const latencyMs = 60
  proxy.delayBy(latencyMs)
  const began = performance.now()
  for (const part of ['a', 'b', 'c']) socket.write(part)
  const heard = heardBy(socket, 'abcd')
  proxy.delayBy(0)
  socket.write('d')
  expect(await heard).toBe('abcd')
  proxy.delayBy(latencyMs)
  socket.write('e')
  expect(await heardBy(socket, 'e')).toBe('e')
  expect(performance.now() - began).toBeGreaterThan(latencyMs)
})

test('an address that is turned to another server cuts who is connected, and new ones get there, or nowhere', async () => {
  const [first, second] = [await echo('first '), await echo('second ')]
  const proxy = await proxyTo(first)
  const socket = await connectedTo(proxy)
  socket.write('x')
  expect(await heardBy(socket, 'first x')).toBe('first x')
  const cut = once(socket, 'close')
  proxy.turnTo(second)
  await cut
  const other = await connectedTo(proxy)
  other.write('y')
  expect(await heardBy(other, 'second y')).toBe('second y')
  const cutToo = once(other, 'close')
  proxy.turnTo(undefined)
  await cutToo
  await once(await connectedTo(proxy), 'close')
})

test('a silent link loses nothing: what was sent meanwhile arrives when it speaks again', async () => {
  const proxy = await proxyTo(await echo(''))
  const socket = await connectedTo(proxy)
  socket.write('a')
  expect(await heardBy(socket, 'a')).toBe('a')
  proxy.freeze()
  socket.write('b')
  proxy.open()
  expect(await heardBy(socket, 'b')).toBe('b')
})

async function echo(greeting: string): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => socket.destroy()).write(greeting)
    socket.pipe(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(async () => once(server.close(), 'close'))
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function proxyTo(url: string): Promise<FaultProxy> {
  const proxy = await FaultProxy.start(url)
  closing.push(() => proxy.close())
  return proxy
}

async function connectedTo({ url }: FaultProxy): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.setEncoding('utf8').on('error', () => socket.destroy())
  await once(socket, 'connect')
  closing.push(async () => socket.destroy())
  return socket
}

/** What it reads until it has read as much as this. */
async function heardBy(socket: Socket, expected: string): Promise<string> {
  let text = ''
  while (text.length < expected.length) text += ((await once(socket, 'data')) as [string])[0]
  return text
}
