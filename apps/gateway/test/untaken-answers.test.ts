import { once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { connect, Socket } from 'node:net'
import { until } from '@automation/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Exchange, send } from '../src/http/exchange.ts'
import { HttpServer } from '../src/http/server.ts'
import { UntakenAnswers } from '../src/http/untaken-answers.ts'
import { process } from './contract-records.ts'
import { startGateway } from './gateway-for-tests.ts'

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
  socket.write('GET /')
  const sending = setInterval(() => socket.write('x'), 50)
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

test('answers of a team that are not taken have a bound together, and leave room for other teams', () => {
  const untaken = new UntakenAnswers(1600)
  const exchanges: Exchange[] = []
  const take = (team: string, bytes: number) => {
    const incoming = new IncomingMessage(new Socket())
    const exchange = new Exchange(incoming, new ServerResponse(incoming))
    exchange.team = team
    exchanges.push(exchange)
    return untaken.take(exchange, bytes)
  }
  expect(Array.from({ length: 4 }, () => take('a', 500))).toEqual([true, true, true, false])
  expect([take('b', 100), take('b', 1), take('', 10_000)]).toEqual([true, false, true])
  for (const exchange of exchanges) untaken.release(exchange)
  expect([take('b', 1600), take('a', 100), take('a', 1)]).toEqual([true, true, false])
})

test('where a gateway holds as much as it may of answers that are not taken, one more is cut', async () => {
  const gateway = await startGateway({}, { bodiesMaxBytes: 32 * 1024 * 1024 })
  gateway.servers.answers.set('getProcess', () => ({ ...process, sourceCode: 'x'.repeat(24_000_000) }))
  const authorization = `Bearer ${await gateway.servers.token()}`
  const sockets = Array.from({ length: 5 }, () => connect(gateway.gateway.port(), '127.0.0.1'))
  const get = `GET /api/demo/rest/processes/hello HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`
  for (const one of sockets) one.on('error', () => undefined).write(get)
  const ended = /^gateway_request_duration_seconds_count\{.*processes\/\{identifier\}".* [1-9]/m
  await until(async () => ended.test(await gateway.metrics()), { what: 'one to be cut', timeoutMs: 10_000 })
  for (const one of sockets) one.destroy()
  await gateway.stop()
})
