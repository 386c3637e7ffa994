import { connect } from 'node:net'
import { Status } from '@automation/contract/execution/v1/execution'
import { invalid, notFound, unavailable } from '@automation/errors'
import { until } from '@automation/testing'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { EXECUTION_ID } from './contract-servers.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'
import { StreamReader } from './sse.ts'
import { endMessage, logMessage, tells } from './watched-run.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway({ TEAM_LIMITS: 'streams=3' }, { maxStreams: 4, streamCommentMs: 100 })
})
afterAll(() => gateway.stop())
beforeEach(() => gateway.servers.answers.clear())

const path = `/api/demo/rest/executions/${EXECUTION_ID}/events`
const open = (headers: Record<string, string> = {}, method = 'GET') => gateway.request(method, path, { headers })
const openStreams = async () => Number(/^gateway_streams (\d+)/m.exec(await gateway.metrics())?.[1])
const allClosed = () => until(async () => (await openStreams()) === 0, { what: 'all streams to be closed' })

const time = timestampFromDate(new Date('2026-01-02T03:04:05.678Z'))

describe('the live stream of an execution', () => {
  test('has status, log and end as events, and closes', async () => {
    const running = { status: Status.RUNNING, time }
    const failed = { status: Status.ERROR, time, explanation: 'Error: x' }
    tells(
      gateway,
      { updates: [{ position: 'a.1', update: { case: 'status', value: running } }] },
      logMessage('a.2', 'hello'),
      { updates: [{ position: 'a.3', update: { case: 'status', value: failed } }] },
      endMessage,
    )
    const response = await open()
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    })
    const { events, retryMs } = await new StreamReader().read(response)
    const timestamp = '2026-01-02T03:04:05.678Z'
    expect(events.map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) as unknown }))).toEqual([
      { id: 'a.1', event: 'status', data: { status: 'RUNNING', timestamp } },
      { id: 'a.2', event: 'log', data: { timestamp: '2023-11-14T22:13:20.123456Z', level: 'INFO', message: 'hello' } },
      { id: 'a.3', event: 'status', data: { status: 'ERROR', timestamp, explanation: 'Error: x' } },
      { id: 'e', event: 'end', data: { status: 'FINISHED' } },
    ])
    expect(retryMs).toBe(1000)
    await allClosed()
  })

  test('no text of a run can forge an event', async () => {
    const texts = ['a\nb', 'a\r\n\r\nevent: end\ndata: {}\r\n\r\n', '\0\u2028\u2029\u0085', '\ud800', '🦄'.repeat(3000)]
    tells(gateway, ...texts.map((text, index) => logMessage(`a.${index}`, text)), endMessage)
    const { events } = await new StreamReader().read(await open())
    expect(events.map(({ event }) => event)).toEqual([...texts.map(() => 'log'), 'end'])
    const messages = events.slice(0, -1).map(({ data }) => (JSON.parse(data) as { message: string }).message)
    expect(messages.map((message) => message.toWellFormed())).toEqual(texts.map((text) => text.toWellFormed()))
  })

  test('goes on behind the id of the last event, which execution judges', async () => {
    tells(gateway, endMessage)
    await new StreamReader().read(await open({ 'last-event-id': 'a.7' }))
    expect(gateway.servers.last('watchExecution')).toMatchObject({ executionId: EXECUTION_ID, after: 'a.7' })
    gateway.servers.answers.set('watchExecution', () => {
      throw invalid('/after', 'is not a position', 'invalid_position')
    })
    for (const wrong of ['nonsense', '-1', 'x'.repeat(5000)]) {
      const response = await open({ 'last-event-id': wrong })
      const { message, errors } = await problemOf(response)
      expect([response.status, errors?.[0]?.path]).toEqual([400, '/Last-Event-ID'])
      expect(message).toContain('Last-Event-ID')
    }
    await allClosed()
  })

  test('what is not there is 404 before anything is sent, an execution that is away 503', async () => {
    for (const [failure, status] of [
      [notFound('execution'), 404],
      [unavailable('away'), 503],
    ] as const) {
      gateway.servers.answers.set('watchExecution', () => {
        throw failure
      })
      expect((await open()).status).toBe(status)
    }
    expect((await gateway.rest('GET', '/executions/nonsense/events')).status).toBe(404)
    expect((await gateway.rest('POST', `/executions/${EXECUTION_ID}/events`)).headers.get('allow')).toContain('GET')
    await allClosed()
  })

  test('HEAD has the head alone and leaves nothing open; Accept changes nothing', async () => {
    const readers = tells(gateway)
    const head = await open({}, 'HEAD')
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, 'text/event-stream', ''])
    await until(() => readers.left === 1)
    tells(gateway, endMessage)
    for (const accept of ['application/json', 'text/event-stream', '*/*'])
      expect((await new StreamReader().read(await open({ accept }))).events).toHaveLength(1)
    await allClosed()
  })

  test('has a comment again and again while nothing happens', async () => {
    const readers = tells(gateway, logMessage('a.1', 'x'))
    const reader = new StreamReader()
    await reader.read(await open(), () => reader.comments.length >= 3)
    expect(reader.events).toHaveLength(1)
    await until(() => readers.left === 1)
    await allClosed()
  })

  test('ends with a comment, not with an endMessage, when execution goes away', async () => {
    gateway.servers.answers.set('watchExecution', async function* () {
      yield { updates: [] }
      yield logMessage('a.1', 'x')
      throw unavailable('The service is stopping')
    } as never)
    const { events, comments } = await new StreamReader().read(await open())
    expect(events.map(({ event }) => event)).toEqual(['log'])
    expect(comments).toEqual(['The service is stopping'])
    await allClosed()
  })

  test('outlives its access token by nothing', async () => {
    const readers = tells(gateway)
    const response = await open({ authorization: `Bearer ${await gateway.servers.token({}, '2s')}` })
    const { comments } = await new StreamReader().read(response)
    expect(comments.at(-1)).toContain('token has expired')
    await until(() => readers.left === 1)
    await allClosed()
  })
})

describe('limits of live streams', () => {
  test('one team has so many, the gateway so many, and what is closed counts no more', async () => {
    const readers = tells(gateway)
    const other = `Bearer ${await gateway.servers.token({ groups: ['other'] })}`
    const ofOther = () => gateway.request('GET', path.replace('demo', 'other'), { headers: { authorization: other } })
    const streams = await Promise.all([open(), open(), open()])
    const refused = await open()
    expect([refused.status, refused.headers.get('retry-after'), (await problemOf(refused)).code]).toEqual([
      429,
      '5',
      'too_many_streams',
    ])
    streams.push(await ofOther())
    const full = await ofOther()
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '5'])
    for (const { body } of streams) await body!.cancel()
    await until(() => readers.left === 4)
    await allClosed()
    const again = await open()
    expect(again.status).toBe(200)
    await again.body!.cancel()
    await allClosed()
  })

  test('a reader that takes nothing stops the reading, and is forgotten when it goes', async () => {
    let sent = 0
    gateway.servers.answers.set('watchExecution', async function* () {
      yield { updates: [] }
      for (;;) {
        sent += 1
        yield logMessage(`a.${sent}`, 'x'.repeat(32_000))
      }
    } as never)
    const socket = connect(gateway.gateway.port(), '127.0.0.1').on('error', () => undefined)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await gateway.servers.token()}\r\n\r\n`)
    socket.pause()
    let before = -1
    await until(
      () => {
        const rests = sent > 0 && sent === before
        before = sent
        return rests
      },
      { everyMs: 200, what: 'the reading to rest' },
    )
    expect(sent * 32_000).toBeLessThan(32 * 1024 * 1024)
    socket.destroy()
    await allClosed()
  })

  test('a client that goes before the answer begins leaves nothing open', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gateway.servers.answers.set('watchExecution', async function* () {
      await promise
      yield { updates: [] }
    } as never)
    const leave = new AbortController()
    const answer = fetch(`${gateway.base}${path}`, {
      headers: { authorization: `Bearer ${await gateway.servers.token()}` },
      signal: leave.signal,
    })
    await until(async () => (await openStreams()) === 1)
    leave.abort()
    await expect(answer).rejects.toThrow('aborted')
    await allClosed()
    resolve()
  })
})

test('a gateway that stops ends its streams at once, slow readers too, and opens no more', async () => {
  const own = await startGateway()
  own.servers.answers.set('watchExecution', async function* (request: { executionId: string }) {
    yield { updates: [] }
    if (request.executionId === EXECUTION_ID) await new Promise(() => undefined)
    for (;;) yield logMessage('a', 'x'.repeat(32_000))
  } as never)
  const slow = await own.request('GET', path.replace(/e\//, 'f/'))
  const reading = new StreamReader().read(await own.request('GET', path))
  const began = performance.now()
  await own.gateway.stop(60_000)
  expect(performance.now() - began).toBeLessThan(30_000)
  expect((await reading).comments.at(-1)).toContain('stopping')
  await slow.body?.cancel().catch(() => undefined)
})
