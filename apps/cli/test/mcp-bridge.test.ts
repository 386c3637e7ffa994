import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { listening } from '@automation/testing/listening'
import { afterEach, expect, test } from 'vitest'
import { bridge } from '../src/mcp/bridge.ts'

interface Message {
  id?: number
  method?: string
  params?: Record<string, unknown>
}

type Answer = (message: Message, request: IncomingMessage, response: ServerResponse) => void

const closing: (() => Promise<unknown>)[] = []
afterEach(() => Promise.all(closing.splice(0).map((close) => close())))

/** A bridge to a server of Streamable HTTP that answers so. */
async function bridged(answer: Answer) {
  const server = createServer((request, response) => {
    void text(request).then((body) => answer(JSON.parse(body) as Message, request, response))
  })
  const { url, close } = await listening(server)
  closing.push(close)
  const input = new PassThrough()
  const lines: unknown[] = []
  const tokens: (string | undefined)[] = []
  const over = bridge({
    url: `${url}/mcp`,
    input,
    write: (line) => lines.push(JSON.parse(line)),
    token: (refused) => Promise.resolve(tokens.push(refused) && refused === 'stale' ? 'fresh' : 'stale'),
  })
  return {
    url,
    lines,
    tokens,
    over,
    input,
    send: (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
  }
}

const json = (response: ServerResponse, body: object, headers = {}) =>
  response
    .writeHead(200, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify({ jsonrpc: '2.0', ...body }))

test('a session and its version go along with all that follows, and a notification gets no answer', async () => {
  const seen: unknown[] = []
  const { lines, send, input, over } = await bridged(({ id, method }, { headers }, response) => {
    seen.push([method, headers['mcp-session-id'], headers['mcp-protocol-version']])
    if (method === 'initialize')
      json(response, { id, result: { protocolVersion: '2025-06-18' } }, { 'mcp-session-id': 's1' })
    else if (id === undefined) response.writeHead(202).end()
    else json(response, { id, result: {} })
  })
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } })
  send({ method: 'notifications/initialized' })
  send({ id: 2, method: 'tools/list' })
  input.end()
  await over
  expect(lines).toHaveLength(2)
  expect(seen[0]).toEqual(['initialize', undefined, undefined])
  expect(seen.slice(1)).toEqual(
    expect.arrayContaining([
      ['tools/list', 's1', '2025-06-18'],
      ['notifications/initialized', 's1', '2025-06-18'],
    ]),
  )
})

test('a stream gives its messages as they come, whatever pieces they are cut into', async () => {
  const { lines, send, input, over } = await bridged(({ id }, _, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': hello\r\n\r\nevent: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/prog')
    setImmediate(() => response.end(`ress"}\r\n\r\ndata: {"jsonrpc":"2.0",\ndata: "id":${id},"result":{}}\n\n`))
  })
  send({ id: 7, method: 'tools/call', params: { name: 'x' } })
  input.end()
  await over
  expect(lines).toEqual([
    { jsonrpc: '2.0', method: 'notifications/progress' },
    { jsonrpc: '2.0', id: 7, result: {} },
  ])
})

test('a request of the stateless protocol has its headers, and a refused token is renewed once', async () => {
  const seen: unknown[] = []
  const { lines, tokens, send, input, over } = await bridged(({ id }, { headers }, response) => {
    if (headers.authorization === 'Bearer stale') return response.writeHead(401).end()
    seen.push([headers['mcp-protocol-version'], headers['mcp-method'], headers['mcp-name']])
    return json(response, { id, result: {} })
  })
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  send({ id: 1, method: 'tools/call', params: { name: 'run_größe', _meta } })
  input.end()
  await over
  expect(seen).toEqual([['2026-07-28', 'tools/call', '=?base64?cnVuX2dyw7bDn2U=?=']])
  expect([lines.length, tokens]).toEqual([1, [undefined, 'stale']])
})

test('a cancelled request is closed, and what goes wrong is an answer', async () => {
  let closed: Promise<unknown> | undefined
  const { lines, send, input, over } = await bridged(({ id, method }, _, response) => {
    if (method === 'slow') {
      closed = once(response, 'close')
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      send({ method: 'notifications/cancelled', params: { requestId: id } })
    } else if (id === undefined) response.writeHead(202).end()
    else
      response
        .writeHead(403, { 'content-type': 'application/problem+json' })
        .end('{"detail":"This needs the scope run"}')
  })
  send({ id: 1, method: 'slow' })
  send({ id: 2, method: 'other' })
  await expect.poll(() => lines.length).toBe(1)
  await expect.poll(() => closed).toBeDefined()
  await closed
  input.write('no json\n')
  input.end()
  await over
  expect(lines).toEqual([
    { jsonrpc: '2.0', id: 2, error: { code: -32603, message: 'The server answered 403: This needs the scope run' } },
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'The line is no JSON' } },
  ])
})

test('a redirect is not followed: what a tool is called with goes to no other origin', async () => {
  const led: string[] = []
  const other = await bridged(({ id }, { url }, response) => {
    led.push(url ?? '')
    json(response, { id, result: {} })
  })
  const { lines, send, input, over } = await bridged((_, __, response) =>
    response.writeHead(307, { location: `${other.url}/elsewhere` }).end(),
  )
  send({ id: 1, method: 'tools/call', params: { name: 'x', arguments: { secret: 'canary' } } })
  for (const one of [input, other.input]) one.end()
  await Promise.all([over, other.over])
  expect(led).toEqual([])
  const message = expect.stringContaining(`answered 307 and leads to ${other.url}/elsewhere`) as string
  expect(lines).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32603, message } }])
})

test('a request with line separators in it is one message', async () => {
  const seen: unknown[] = []
  const { lines, send, input, over } = await bridged(({ id, params }, _, response) => {
    seen.push(params)
    json(response, { id, result: {} })
  })
  const params = { name: 'x', arguments: { text: 'a\u2028b\u2029c' } }
  send({ id: 1, method: 'tools/call', params })
  input.end()
  await over
  expect(seen).toEqual([params])
  expect(lines).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
})
