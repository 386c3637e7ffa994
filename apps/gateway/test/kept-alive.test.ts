import { connect, createServer, type Http2Server, type ServerHttp2Session } from 'node:http2'
import { connect as connectTcp, type AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keptAlive } from '../src/sandbox-ports/kept-alive.ts'

let server: Http2Server
let port: number

beforeEach(async () => {
  server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ;({ port } = server.address() as AddressInfo)
})
afterEach(() => server.close())

const closed = (session: ServerHttp2Session) => new Promise((resolve) => session.once('close', resolve))
const next = () => new Promise<ServerHttp2Session>((resolve) => server.once('session', resolve))

test('a session whose other side answers no ping is cut', async () => {
  const incoming = next()
  const silent = connectTcp(port, '127.0.0.1')
  // The beginning of HTTP/2, and nothing more.
  silent.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1')
  const session = await incoming
  keptAlive(session, { pingMs: 30, idleMs: 1e9 })
  await closed(session)
  silent.destroy()
})

test('one that nobody uses is closed, one with an open stream is not', async () => {
  const incoming = next()
  const client = connect(`http://127.0.0.1:${port}`)
  const session = await incoming
  // Only now, as it would be closed before its stream comes.
  session.once('stream', (stream) => {
    keptAlive(session, { pingMs: 50, idleMs: 0 }).used(stream)
    stream.respond()
  })
  const call = client.request({ ':method': 'POST' }, { endStream: false })
  await new Promise((resolve) => call.on('response', resolve))
  // Each ping is sent behind a look at whether it is idle.
  for (let pings = 0; pings < 3; pings++) await new Promise((resolve) => client.once('ping', resolve))
  expect(session.closed).toBe(false)
  call.end()
  call.close()
  await closed(session)
  client.destroy()
})
