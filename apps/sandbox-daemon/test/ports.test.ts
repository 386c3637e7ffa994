import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startDaemonProcess, system, type DaemonProcess } from '@automation/testing/daemon-process'

let daemon: DaemonProcess
const servers: Server[] = []

beforeAll(async () => {
  daemon = await startDaemonProcess()
})
afterAll(() => daemon.stop())
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listening(answer: (socket: Socket) => void, host = '127.0.0.1'): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, answer)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return (server.address() as AddressInfo).port
}

async function* requests(port: number, ...data: string[]) {
  yield { port }
  for (const text of data) yield { data: Buffer.from(text) }
}

async function talk(port: number, ...data: string[]): Promise<{ text: string; ends: number }> {
  let text = ''
  let ends = 0
  for await (const response of daemon.control.connectPort(requests(port, ...data), system())) {
    text += Buffer.from(response.data).toString()
    if (response.end) ends++
  }
  return { text, ends }
}

test('bytes pass in both directions, and the port may answer after its caller has ended', async () => {
  const port = await listening((socket) => {
    let got = ''
    socket.on('data', (data) => (got += data.toString()))
    socket.on('end', () => socket.end(`got ${got}`))
  })
  expect(await talk(port, 'ping ', 'pong')).toEqual({ text: 'got ping pong', ends: 1 })
})

test('the caller may send after the port has ended', async () => {
  const got = Promise.withResolvers<string>()
  const port = await listening((socket) => {
    let text = ''
    socket.end('over')
    socket.on('data', (data) => (text += data.toString()))
    socket.on('end', () => got.resolve(text))
  })
  const ended = Promise.withResolvers<void>()
  async function* late() {
    yield { port }
    await ended.promise
    yield { data: Buffer.from('late') }
  }
  for await (const { end } of daemon.control.connectPort(late(), system())) if (end) ended.resolve()
  expect(await got.promise).toBe('late')
})

test('a connection is over once the port has ended and takes no more, however much its caller sends', async () => {
  const port = await listening((socket) => {
    socket.end('over')
    socket.once('data', () => socket.destroy())
  })
  async function* endless() {
    yield { port }
    for (;;) {
      yield { data: Buffer.from('more') }
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  let text = ''
  for await (const { data } of daemon.control.connectPort(endless(), system())) text += Buffer.from(data).toString()
  expect(text).toBe('over')
})

test('a port where nobody listens, or that is none, is refused in words', async () => {
  const port = await listening(() => undefined)
  servers.pop()!.close()
  await expect(talk(port)).rejects.toMatchObject({ kind: 'unavailable', code: 'port_closed' })
  await expect(talk(0)).rejects.toMatchObject({ kind: 'invalid_argument', fields: [{ path: '/port' }] })
  await expect(talk(70_000)).rejects.toMatchObject({ kind: 'invalid_argument' })
})

test('a connection that the port breaks fails', async () => {
  const port = await listening((socket) => socket.on('data', () => socket.resetAndDestroy()))
  await expect(talk(port, 'x')).rejects.toMatchObject({ code: 'port_reset' })
})

test('what a port has answered comes, though it closes the connection before it has read all', async () => {
  const port = await listening((socket) =>
    socket.once('data', () => {
      socket.pause()
      setImmediate(() => socket.end('refused', () => socket.destroy()))
    }),
  )
  const large = Array.from({ length: 20 }, () => 'x'.repeat(0x10000))
  const texts = new Set<string>()
  for (let nth = 0; nth < 30; nth++) texts.add((await talk(port, ...large)).text)
  expect(texts).toEqual(new Set(['refused']))
})

test('a caller that goes closes the connection', async () => {
  const closed = Promise.withResolvers<void>()
  const port = await listening((socket) => socket.resume().on('end', () => closed.resolve()))
  const caller = new AbortController()
  async function* silent() {
    yield { port }
    await new Promise(() => undefined)
  }
  const connection = daemon.control
    .connectPort(silent(), { ...system(), signal: caller.signal })
    [Symbol.asyncIterator]()
  await connection.next()
  caller.abort()
  await expect(connection.next()).rejects.toMatchObject({ kind: 'unavailable' })
  await closed.promise
})
