import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { served, type Handlers } from '@automation/rpc'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

const KIB = 1024
const FILLING = Buffer.alloc(1024 * KIB, ' ')
const PATIENTLY = { timeout: 30_000 }

let gateway: GatewayForTests
const sockets: Socket[] = []

beforeAll(async () => {
  gateway = await startGateway(
    { BODY_MAX_BYTES: String(1024 * KIB), TRUSTED_PROXIES: '127.0.0.1' },
    { bodiesMaxBytes: 4096 * KIB },
  )
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await gateway.stop()
})

afterEach(() => {
  vi.useRealTimers()
})

/** A post that has sent so many bytes of a body of 1 MiB; resolves with what comes back, if it does. */
function unfinished(bytes: number, address: string): { sent: Promise<void>; answer: Promise<string>; socket: Socket } {
  const socket = connect(gateway.gateway.port(), '127.0.0.1')
  sockets.push(socket)
  const head = [
    'POST /api/demo/webhooks/hello HTTP/1.1',
    'Host: x',
    `X-Forwarded-For: ${address}`,
    `Content-Length: ${1024 * KIB}`,
  ]
  const sent = new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    socket.write(FILLING.subarray(0, bytes), () => resolve())
  })
  const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString('latin1'))))
  return { sent, answer, socket }
}

const post = (bytes: number, address = '10.0.0.9', team = 'demo') =>
  gateway.request('POST', `/api/${team}/webhooks/hello`, {
    headers: { 'content-type': 'text/plain', 'x-forwarded-for': address },
    body: 'x'.repeat(bytes),
  })

describe('many unfinished bodies', () => {
  test('of one address leave room for others, and for small ones of its own', async () => {
    const posts = Array.from({ length: 12 }, () => unfinished(900 * KIB, '10.0.0.1'))
    const refused = await Promise.race(posts.map(({ answer }) => answer))
    expect(refused).toContain('503 ')
    expect(refused).toMatch(/retry-after: \d/i)
    expect(refused).toContain('too_many_bodies')
    expect((await post(1000 * KIB)).status).toBe(204)
    expect((await post(60 * KIB, '10.0.0.1')).status).toBe(204)
    const { status, code } = await problemOf(await post(1000 * KIB, '10.0.0.1'))
    expect([status, code]).toEqual([503, 'too_many_bodies'])
    for (const { socket } of posts) socket.destroy()
    await expect.poll(async () => (await post(1000 * KIB, '10.0.0.1')).status, PATIENTLY).toBe(204)
  })

  test('of many addresses leave room for small ones', async () => {
    const posts = Array.from({ length: 200 }, (_, n) => unfinished(900 * KIB, `10.0.1.${n}`))
    let refused = 0
    for (const { answer } of posts) void answer.then((text) => (refused += Number(text.includes('503 '))))
    // What is left unfinished is held: less than the budget.
    await expect.poll(() => refused, PATIENTLY).toBeGreaterThan(190)
    expect((await post(60 * KIB)).status).toBe(204)
    expect((await post(1000 * KIB)).status).toBe(503)
    for (const { socket } of posts) socket.destroy()
    await expect.poll(async () => (await post(1000 * KIB)).status, PATIENTLY).toBe(204)
  })
})

test('bodies that were answered count no more', async () => {
  for (let turn = 0; turn < 20; turn += 1) expect((await post(1000 * KIB)).status).toBe(204)
})

describe('what runs that are waited for were given', () => {
  const started = () => gateway.servers.received.filter(({ method }) => method === 'runExecution').length
  /** What earlier tests have broken off is given back a moment later. */
  const admitted = async (call: () => Promise<Response>) => {
    for (;;) {
      const answer = await call()
      if (answer.status !== 503) return answer
    }
  }
  const waiting = async (makes: (() => Promise<Response>)[]) => {
    const runs = Promise.withResolvers<object>()
    gateway.servers.answers.set('runExecution', () => runs.promise)
    const before = started()
    const calls = makes.map(admitted)
    await expect.poll(() => started() - before, PATIENTLY).toBe(calls.length)
    return async () => {
      runs.resolve({ executionId: 'x', status: 5, returnValue: Buffer.from('null') })
      for (const { status } of await Promise.all(calls)) expect(status).toBe(204)
      gateway.servers.answers.clear()
    }
  }

  test('counts', async () => {
    const end = await waiting(['a', 'b', 'c'].map((team) => () => post(1000 * KIB, undefined, team)))
    expect((await post(1000 * KIB, undefined, 'd')).status).toBe(503)
    await end()
  })

  test('of one team leaves room for other teams, and for its own small ones', async () => {
    const end = await waiting([700, 60, 65].map((kib) => () => post(kib * KIB)))
    const { status, code } = await problemOf(await post(100 * KIB))
    expect([status, code]).toEqual([503, 'too_many_bodies'])
    await end()
    const endAll = await waiting([
      ...[700, 60].map((kib) => () => post(kib * KIB)),
      ...['a', 'b'].map((team) => () => post(1000 * KIB, undefined, team)),
    ])
    await endAll()
  })

  test('of one team in small ones leaves room for other teams', async () => {
    const end = await waiting(Array.from({ length: 17 }, () => () => post(60 * KIB)))
    expect((await post(60 * KIB)).status).toBe(503)
    const endOthers = await waiting([() => post(60 * KIB, undefined, 'a'), () => post(1000 * KIB, undefined, 'b')])
    await endOthers()
    await end()
  })
})

test('uploads of one address leave room for others', async () => {
  const uploadObject = async (messages: AsyncIterable<unknown>) => {
    for await (const _ of messages) continue
    return {}
  }
  gateway.servers.network.add([served(StorageService, { uploadObject } as unknown as Handlers<typeof StorageService>)])
  const authorization = `Bearer ${await gateway.servers.token()}`
  const upload = (address: string) => {
    const socket = connect(gateway.gateway.port(), '127.0.0.1')
    sockets.push(socket)
    const head = ['POST /api/demo/rest/storage/objects?filename=x HTTP/1.1', 'Host: x', `X-Forwarded-For: ${address}`]
    socket.write([...head, `Authorization: ${authorization}`, 'Content-Length: 1000000', '', 'x'].join('\r\n'))
    return socket
  }
  let refused = 0
  const uploads = Array.from({ length: 40 }, (_, n) => upload(`2001:db8::${n.toString(16)}`))
  for (const socket of uploads)
    socket
      .once('data', (data) => (refused += Number(data.toString('latin1').includes('too_many_bodies'))))
      // One that is refused is closed though its body has not been read.
      .on('error', () => undefined)
  await expect.poll(() => refused, PATIENTLY).toBe(28)
  expect((await post(1000 * KIB)).status).toBe(204)
  for (const socket of uploads) socket.destroy()
  const again = () => post(1000 * KIB, '2001:db8::').then(({ status }) => status)
  await expect.poll(again, PATIENTLY).toBe(204)
})

test('a body that comes byte by byte is the body', async () => {
  const text = JSON.stringify({ a: 'é'.repeat(70_000), b: Array.from({ length: 2000 }, (_, n) => n) })
  const bytes = Buffer.from(text)
  const socket = connect(gateway.gateway.port(), '127.0.0.1')
  sockets.push(socket)
  const head = 'POST /api/demo/webhooks/hello HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const chunks = [`${head}Transfer-Encoding: chunked\r\n\r\n`]
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7) % 5000 || 1)
    chunks.push(`${Math.min(size, bytes.length - at).toString(16)}\r\n${bytes.toString('latin1', at, at + size)}\r\n`)
  socket.write(`${chunks.join('')}0\r\n\r\n`, 'latin1')
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString('latin1')).toContain('204 ')
  expect(Buffer.from(gateway.servers.started.parameters).toString()).toBe(text)
})

test('a body that stops coming is 408', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { sent, answer } = unfinished(10, '10.0.0.1')
  await sent
  let text = ''
  void answer.then((data) => (text = data))
  await expect
    .poll(() => {
      vi.advanceTimersByTime(16_000)
      return text
    }, PATIENTLY)
    .toContain('"code":"request_timeout"')
})
