import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { ReconnectingEvents, type StreamState } from '../src/live/event-source.ts'

const asked: { request: IncomingMessage; response: ServerResponse }[] = []
const server = createServer((request, response) => {
  asked.push({ request, response })
  response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
})

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => server.close())

describe('a stream of events', () => {
  const told: string[] = []
  let state: StreamState | undefined
  let events: ReconnectingEvents

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    asked.length = told.length = 0
    const { port } = server.address() as AddressInfo
    events = new ReconnectingEvents(`http://127.0.0.1:${port}/`, {
      onEvent: ({ data }) => told.push(data),
      onState: (next) => (state = next),
      onGap: () => undefined,
    })
    events.open()
    await until(() => asked.length === 1 && state?.is === 'live')
    asked[0]?.response.write('id: 7\ndata: first\n\n')
    await until(() => told.length === 1)
  })
  afterEach(() => {
    events.close()
    server.closeAllConnections()
    vi.useRealTimers()
  })

  it('that is silent for longer than the server ever is goes on over another connection', async () => {
    vi.advanceTimersByTime(30_000)
    asked[0]?.response.write(':\n\ndata: second\n\n')
    await until(() => told.length === 2)
    vi.advanceTimersByTime(30_000)
    expect(asked[0]?.request.destroyed).toBe(false)
    vi.advanceTimersByTime(15_000)
    await until(() => asked[0]?.response.destroyed === true)
    vi.advanceTimersByTime(5000)
    await until(() => asked.length === 2)
    expect(asked[1]?.request.headers['last-event-id']).toBe('7')
  })

  it('is opened anew at once where it is asked to, and only once by many who ask', async () => {
    vi.advanceTimersByTime(5000)
    for (let tabs = 0; tabs < 7; tabs += 1) events.reopen()
    await until(() => asked.length === 2 && asked[0]?.response.destroyed === true)
    expect(asked[1]?.request.headers['last-event-id']).toBe('7')
    asked[1]?.response.write('data: third\n\n')
    await until(() => told.includes('third'))
    expect(asked).toHaveLength(2)
  })
})

/** Until it holds, while the timers stand still. */
async function until(holds: () => boolean): Promise<void> {
  const endMs = performance.now() + 20_000
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`It never came: ${holds.toString()}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
