import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { until } from '@automation/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { send, type Exchange } from '../src/http/exchange.ts'
import { HttpServer } from '../src/http/server.ts'

/** More than the system keeps for a client. */
const body = Buffer.alloc(32 * 1024 * 1024, 'x')
const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

let server: HttpServer
let socket: Socket
let answered: Exchange[]
let over: Exchange[]

async function listen(untakenTimeoutMs: number): Promise<void> {
  answered = []
  over = []
  server = new HttpServer({
    bodyMaxBytes: () => 0,
    idleTimeoutMs: 600_000,
    untakenTimeoutMs,
    handle: (exchange) => {
      send(exchange.outgoing, { status: 200, headers: {}, body })
      answered.push(exchange)
    },
    ended: (exchange) => over.push(exchange),
  })
  socket = connect(await server.listen(0, '127.0.0.1'), '127.0.0.1')
  await once(socket, 'connect')
}

beforeEach(() => listen(300))
afterEach(async () => {
  socket.destroy()
  await server.stop(0)
})

test('a client that takes nothing of an answer is cut, whatever it sends meanwhile', async () => {
  socket.on('error', () => undefined)
  socket.write(request)
  await until(() => answered.length === 1, { what: 'the answer', timeoutMs: 5000 })
  const sending = setInterval(() => socket.write('GET /'), 50)
  await until(() => over.length === 1, { what: 'the end of the exchange', timeoutMs: 5000 })
  clearInterval(sending)
  expect(over[0]?.outgoing.writableFinished).toBe(false)
})

test('one that takes it late goes on with its connection', async () => {
  await server.stop(0)
  await listen(600_000)
  let came = 0
  for (const nth of [1, 2]) {
    socket.write(request)
    await until(() => answered.length === nth, { what: 'the answer', timeoutMs: 5000 })
    socket.on('data', (data: Buffer) => (came += data.length)).resume()
    await until(() => came > nth * body.length && over.length === nth, { what: 'all of it', timeoutMs: 30_000 })
    socket.removeAllListeners('data').pause()
  }
})
