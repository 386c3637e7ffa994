import { once } from 'node:events'
import {
  connect as connectHttp2,
  constants,
  createServer,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
} from 'node:http2'
import { connect } from 'node:net'
import { listening } from '@automation/testing/listening'
import { until } from '@automation/testing'
import { apiKey } from '@automation/testing/daemon-process'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { frameServer, headersFrame, preface, settings } from './plain-frames.ts'
import { sandboxId, startSandboxGateway, type SandboxGateway } from './sandbox-gateway.ts'

let system: SandboxGateway
let session: ClientHttp2Session

beforeEach(async () => {
  system = await startSandboxGateway()
  session = connectHttp2(`http://127.0.0.1:${system.gateway.sandboxPorts().grpcPort}`)
})
afterEach(async () => {
  session.destroy()
  await system.stop()
})

const path = '/automation.sandbox.v1.CommandService/ListCommands'
const headersOf = (key: string) => ({
  ':method': 'POST',
  ':path': path,
  'content-type': 'application/grpc',
  'x-api-key': key,
})
const call = (key: string) => session.request(headersOf(key)).on('error', () => undefined)

/** The headers of an answer and its trailers; of a call that is reset only its code. */
function answered(stream: ReturnType<typeof call>): Promise<IncomingHttpHeaders | number> {
  const seen: IncomingHttpHeaders = {}
  stream.on('response', (headers) => Object.assign(seen, headers))
  stream.on('trailers', (headers) => Object.assign(seen, headers))
  stream.resume()
  return new Promise((resolve) =>
    stream.on('close', () => resolve(stream.rstCode === constants.NGHTTP2_NO_ERROR ? seen : stream.rstCode)),
  )
}

test('a caller that goes in peace, with more to say than its daemon takes, disturbs nobody', async () => {
  const called = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const daemon = await frameServer(async (stream) => {
    called.resolve()
    await gate.promise
    return [headersFrame(stream, { ':status': '200', 'content-type': 'application/grpc' }, false)]
  })
  const { daemonAddress } = system.route!
  system.route!.daemonAddress = daemon.address
  const left = call(apiKey)
  left.write(Buffer.alloc(200_000))
  await called.promise
  await new Promise((resolve) => session.ping(resolve))
  left.close(constants.NGHTTP2_NO_ERROR)
  await new Promise((resolve) => session.ping(resolve))
  gate.resolve()
  system.route!.daemonAddress = daemonAddress!
  expect(await system.connect().list()).toEqual([])
  daemon.stop()
})

test.each([
  ['its headers', { 'http2-settings': 'x', host: 'y' }, {}],
  ['its trailers', {}, { 'http2-settings': 'x', host: 'y' }],
])('what a daemon says of its own connection in %s goes no further', async (_where, inHeaders, inTrailers) => {
  const daemon = await frameServer((stream) => [
    headersFrame(stream, { ':status': '200', 'content-type': 'application/grpc', ...inHeaders }, false),
    headersFrame(stream, { 'grpc-status': '0', ...inTrailers }, true),
  ])
  system.route!.daemonAddress = daemon.address
  const stream = call(apiKey)
  stream.end(Buffer.alloc(5))
  const all = await answered(stream)
  expect(all).toMatchObject({ ':status': 200, 'grpc-status': '0' })
  expect(all).not.toHaveProperty('http2-settings')
  expect(all).not.toHaveProperty('host')
  daemon.stop()
})

test('a daemon whose connection is reset in the middle of an answer is told as unavailable', async () => {
  const daemon = await frameServer((stream) => [
    headersFrame(stream, { ':status': '200', 'content-type': 'application/grpc' }, false),
  ])
  system.route!.daemonAddress = daemon.address
  const stream = call(apiKey)
  const all = answered(stream)
  stream.end(Buffer.alloc(5))
  await once(stream, 'response')
  daemon.reset()
  expect(await all).toMatchObject({ ':status': 200, 'grpc-status': '14' })
})

test('what a caller says of its own connection does not keep its call from the daemon', async () => {
  const called = Promise.withResolvers<void>()
  const daemon = await frameServer((stream) => {
    called.resolve()
    return [headersFrame(stream, { ':status': '200', 'content-type': 'application/grpc', 'grpc-status': '0' }, true)]
  })
  system.route!.daemonAddress = daemon.address
  const socket = connect(system.gateway.sandboxPorts().grpcPort, '127.0.0.1').on('error', () => undefined)
  const target = { ':method': 'POST', ':scheme': 'http', ':path': path, ':authority': 'x' }
  const mine = { 'content-type': 'application/grpc', 'x-api-key': apiKey, 'http2-settings': 'x', host: 'y' }
  socket.write(Buffer.concat([Buffer.from(preface), settings, headersFrame(1, { ...target, ...mine }, true)]))
  await called.promise
  socket.destroy()
  daemon.stop()
})

test('who watches the health of the gateway needs no key, and there are not ever so many', async () => {
  const { grpcPort } = system.gateway.sandboxPorts()
  const sessions = Array.from({ length: 6 }, () => connectHttp2(`http://127.0.0.1:${grpcPort}`))
  const headers = { ':method': 'POST', ':path': '/grpc.health.v1.Health/Watch', 'content-type': 'application/grpc' }
  const refused = Promise.withResolvers<IncomingHttpHeaders>()
  try {
    let begun = 0
    for (const each of sessions) {
      await once(each, 'remoteSettings')
      for (let count = 0; count < 180; count++) {
        const stream = each.request(headers, { endStream: true })
        stream.on('error', () => undefined)
        stream.on('response', (answer) =>
          answer['grpc-status'] === undefined ? (begun += 1) : refused.resolve(answer),
        )
      }
    }
    expect(await refused.promise).toMatchObject({ 'grpc-status': '8' })
    expect(begun).toBeLessThanOrEqual(1000)
    expect(begun).toBeGreaterThan(100)
  } finally {
    for (const each of sessions) each.destroy()
  }
})

test('a sandbox has so many calls at a time, whatever its daemon takes of them, and leaves room for others', async () => {
  const deaf = createServer({ settings: { initialWindowSize: 0 } })
  deaf.on('stream', (stream) => stream.on('error', () => undefined))
  const { port, close } = await listening(deaf)
  const { route } = system
  const daemonAddress = `127.0.0.1:${port}`
  system.route = { ...route, daemonAddress }
  const another = connectHttp2(`http://127.0.0.1:${system.gateway.sandboxPorts().grpcPort}`)
  const refused: unknown[] = []
  for (const [each, calls] of [
    [session, 250],
    [another, 50],
  ] as const)
    for (let count = 0; count < calls; count++) {
      const stream = each.request(headersOf(apiKey), { endStream: false })
      stream.on('error', () => undefined)
      stream.on('response', (answer) => refused.push(answer['grpc-status']))
      stream.write(Buffer.alloc(1000))
    }
  await until(() => refused.length === 100)
  expect(new Set(refused)).toEqual(new Set(['14']))
  expect(await system.traffic()).toMatchObject({ 'call open': 200 })
  system.route = { ...route, sandboxId: sandboxId.replace('5a', '5b'), team: 'another' }
  expect(await system.connect().list()).toEqual([])
  for (const each of [session, another]) each.destroy()
  system.route = route
  await until(async () => (await system.traffic())['call open'] === 0)
  expect(await system.connect().list()).toEqual([])
  await close()
})
