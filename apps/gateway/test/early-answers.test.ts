import { once } from 'node:events'
import type { Socket } from 'node:net'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { unavailable } from '@automation/errors'
import { served, type Handlers } from '@automation/rpc'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'
import { answerOn, answerTo, lateReader, sent } from './late-reader.ts'

const MIB = 1024 * 1024
/** More than a connection holds on its way. */
const LARGE = 8 * MIB
const body = Buffer.alloc(LARGE, 'x')
const piece = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 'x'), Buffer.from('\r\n')])
const chunks = Buffer.concat([...Array<Buffer>(LARGE / 0x10000).fill(piece), Buffer.from('0\r\n\r\n')])

const hello = '/api/demo/webhooks/hello'
const length = `Content-Length: ${LARGE}\r\n`
const close = 'Host: x\r\nConnection: close\r\n'
/** It has no token. */
const refused = (more: string) => `POST /api/demo/rest/processes HTTP/1.1\r\n${more}${length}`

/** What the storage does at each message of an upload. */
let piecewise: () => unknown
const storage = served(StorageService, {
  uploadObject: async (messages: AsyncIterable<unknown>) => {
    for await (const _ of messages) await piecewise()
    return {}
  },
} as unknown as Handlers<typeof StorageService>)

/** The head of one, without its end. */
async function upload({ servers }: GatewayForTests, more: string): Promise<string> {
  const authorization = `Authorization: Bearer ${await servers.token()}\r\n`
  return `POST /api/demo/rest/storage/objects?filename=x HTTP/1.1\r\n${more}${authorization}`
}

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway({ BODY_MAX_BYTES: String(MIB), UPLOAD_MAX_BYTES: String(MIB) })
  gateway.servers.network.add([storage])
})
afterAll(() => gateway.stop())

const port = () => gateway.gateway.port()
const status = (code: number) => new RegExp(`^HTTP/1\\.1 ${code} `)

describe('the answer to a request that is refused before its end comes, though its connection is not kept', () => {
  test.each([
    ['without a token', refused(close), body, 401],
    ['in HTTP/1.0', `POST /api/demo/rest/processes HTTP/1.0\r\nHost: x\r\n${length}`, body, 401],
    ['at an unknown address', `POST /api/demo/webhook/hello HTTP/1.1\r\n${close}${length}`, body, 404],
    ['packed', `POST ${hello} HTTP/1.1\r\n${close}Content-Encoding: gzip\r\n${length}`, body, 415],
    ['too large', `POST ${hello} HTTP/1.1\r\n${close}Transfer-Encoding: chunked\r\n`, chunks, 413],
    ['with a line that is no header', `POST ${hello} HTTP/1.1\r\n${close}${length}none\r\n`, body, 400],
    ['with large headers', `POST ${hello} HTTP/1.1\r\n${close}${length}X-A: ${'a'.repeat(17_000)}\r\n`, body, 431],
    ['by a proxy', `CONNECT x:80 HTTP/1.1\r\n${close}`, body, 405],
    ['with chunks that are none', `POST ${hello} HTTP/1.1\r\n${close}Transfer-Encoding: chunked\r\n`, body, 400],
  ])('%s', async (_, head, content, code) => {
    const answer = await answerTo(port(), head, content)
    expect(answer).toMatch(status(code))
    expect(answer).toMatch(/\r\nconnection: close\r\n[^]*}$/i)
  })

  test.each([
    ['of the console', () => gateway.gateway.consolePort(), '/session', 403],
    ['of public ports of sandboxes', () => gateway.gateway.sandboxPorts().publicPort, '/', 404],
  ])('at the port %s', async (_, portOf, path, code) => {
    expect(await answerTo(portOf(), `POST ${path} HTTP/1.1\r\n${close}${length}`, body)).toMatch(status(code))
  })

  test.each([
    ['too large', () => undefined, 413],
    ['refused by the storage', () => Promise.reject(unavailable('full')), 503],
  ])('an upload that is %s on its way', async (_, onPiece, code) => {
    piecewise = onPiece
    const head = `${await upload(gateway, close)}Transfer-Encoding: chunked\r\n`
    expect(await answerTo(port(), head, chunks)).toMatch(status(code))
  })
})

const connections = async ({ metrics }: GatewayForTests) =>
  Number(/^gateway_connections (\d+)$/m.exec(await metrics())?.[1])

describe('a client that has its answer', () => {
  let own: GatewayForTests
  let socket: Socket
  beforeEach(async () => {
    own = await startGateway()
    socket = await lateReader(own.gateway.port())
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(async () => {
    socket.destroy()
    // Nothing is left that it would wait for.
    await own.gateway.stop(60_000)
    vi.useRealTimers()
  })
  const count = () => connections(own)

  test.each([
    ['of one that is not kept', close, '', ['401']],
    ['of one with another behind it', 'Host: x\r\n', `GET /livez HTTP/1.1\r\n${close}\r\n`, ['401']],
  ])('%s is cut when all has come', async (_, more, later, codes) => {
    await sent(socket, `${refused(more)}\r\n`)
    await once(socket, 'readable')
    await sent(socket, Buffer.concat([body, Buffer.from(later)]))
    const answers = await answerOn(socket)
    expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code)).toEqual(codes)
    await expect.poll(count).toBe(0)
  })

  test('before the end of what it sends is told that nothing behind that is answered', async () => {
    await sent(socket, `${refused('Host: x\r\n')}\r\n`)
    expect(await answerOn(socket)).toMatch(/\r\nconnection: close\r\n/i)
  })

  test('of one that has come whole may send the next', async () => {
    await sent(socket, 'POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}')
    await once(socket, 'readable')
    expect(String(socket.read())).toMatch(/\r\nconnection: keep-alive\r\n/i)
    await sent(socket, `GET /livez HTTP/1.1\r\n${close}\r\n`)
    expect(await answerOn(socket)).toMatch(status(200))
  })

  test('and does not end is cut after a second', async () => {
    await sent(socket, `${refused(close)}\r\n`)
    expect(await answerOn(socket)).toMatch(status(401))
    await sent(socket, 'x')
    vi.advanceTimersByTime(900)
    await sent(socket, 'x')
    expect(await count()).toBe(1)
    vi.advanceTimersByTime(200)
    await expect.poll(count).toBe(0)
  })

  test('and sends more and more is cut', async () => {
    await sent(socket, `POST / HTTP/1.1\r\n${close}Content-Length: 1000000000\r\n\r\n`)
    const sending = async () => {
      for (let rounds = 0; rounds < 100; rounds += 1) await sent(socket, body)
    }
    await expect(sending()).rejects.toThrow(/EPIPE|ECONNRESET/)
  })

  test.each([
    ['goes', () => socket.destroy()],
    ['breaks off', () => socket.resetAndDestroy()],
  ])('and %s is not waited for', async (_, leave) => {
    await sent(socket, `${refused(close)}\r\n`)
    await once(socket, 'readable')
    leave()
    await expect.poll(count).toBe(0)
  })
})

describe('a client that closes its side behind its request', () => {
  test.each([
    ['REST', '/api/demo/rest/team'],
    ['webhooks', hello],
  ])('has its answer of %s', async (_, path) => {
    gateway.servers.returns('1')
    const socket = await lateReader(port())
    const authorization = `Authorization: Bearer ${await gateway.servers.token()}\r\n`
    socket.end(`GET ${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`)
    expect(await answerOn(socket)).toMatch(status(200))
    socket.destroy()
  })
})

describe('at a stop', () => {
  test('such an answer comes, and what is asked behind it is not done', async () => {
    const own = await startGateway()
    const socket = await lateReader(own.gateway.port())
    const stopped = own.gateway.stop(60_000)
    await sent(socket, 'POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n')
    await once(socket, 'readable')
    await sent(socket, `xPOST ${hello} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`)
    expect((await answerOn(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404'])
    await stopped
    expect(own.servers.received.some(({ method }) => method === 'runExecution')).toBe(false)
    socket.destroy()
  })

  const json = `POST ${hello} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
  const chunked = 'Transfer-Encoding: chunked\r\n'
  test.each([
    ['an upload', (own: GatewayForTests) => upload(own, `Host: x\r\n${length}`), 1, body],
    ['a body', () => Promise.resolve(json + length), 1, body],
    ['a large body of unknown length', () => Promise.resolve(json + chunked), 2 * piece.length, chunks],
  ])('%s that has not come whole when the grace is over is told so', async (_, headOf, first, content) => {
    const own = await startGateway()
    piecewise = () => undefined
    own.servers.network.add([storage])
    const socket = await lateReader(own.gateway.port())
    await sent(socket, `${await headOf(own)}Expect: 100-continue\r\n\r\n`)
    await once(socket, 'readable')
    expect(String(socket.read())).toMatch(status(100))
    await sent(socket, content.subarray(0, first))
    const stopped = own.gateway.stop(50)
    await once(socket, 'readable')
    await sent(socket, content.subarray(first))
    expect(await answerOn(socket)).toMatch(status(503))
    await stopped
    socket.destroy()
  })
})
