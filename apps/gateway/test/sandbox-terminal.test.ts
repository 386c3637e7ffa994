import { request } from 'node:http'
import type { Socket } from 'node:net'
import { until } from '@automation/testing'
import { notFound } from '@automation/errors'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSandboxRest, type SandboxRest } from './sandbox-rest.ts'

let system: SandboxRest

beforeAll(async () => {
  system = await startSandboxRest({ teamMaxStreams: 3 })
})
afterAll(() => system.stop())

const path = (more = '') => `/api/demo/rest${system.one}/terminal${more}`

/** A terminal as a browser opens it: the token is a subprotocol. */
async function open(more = '', token?: string) {
  const protocols = ['bearer', token ?? (await system.servers.token())]
  const socket = new WebSocket(`${system.base.replace('http', 'ws')}${path(more)}`, protocols)
  socket.binaryType = 'arraybuffer'
  let shown = ''
  const told: unknown[] = []
  socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (typeof data === 'string') told.push(JSON.parse(data))
    else shown += Buffer.from(data).toString()
  })
  const closed = new Promise<number>((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)))
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  return { socket, shown: () => shown, told, closed, type: (text: string) => socket.send(Buffer.from(text)) }
}

test('a shell is typed to, has the size that is asked for, sees its changes, and its end is told', async () => {
  const { socket, type, shown, told, closed } = await open('?cols=101&rows=31')
  expect(socket.protocol).toBe('bearer')
  type('stty size; echo $((20 + 3))ü\n')
  await until(() => shown().includes('31 101') && shown().includes('23ü'))
  socket.send(JSON.stringify({ resize: { cols: 202, rows: 62 } }))
  await until(() => {
    type('stty size\n')
    return shown().includes('62 202')
  })
  type('exit 4\n')
  expect([await closed, told]).toEqual([1000, [{ exit: { code: 4 } }]])
})

test('a client that goes takes along what runs, and gives its room back', async () => {
  const { socket, type, shown } = await open()
  type('echo rea""dy; sleep 100\n')
  await until(() => shown().includes('ready'))
  expect(await system.daemon.sandbox.list()).toHaveLength(1)
  socket.close()
  await until(async () => (await system.daemon.sandbox.list()).length === 0)
})

test('a client that reads nothing holds up what runs, and others go on', async () => {
  const slow = await answerTo({ authorization: `Bearer ${await system.servers.token()}` })
  expect(slow.status).toBe(101)
  slow.socket!.pause()
  // A masked frame of bytes: `yes` and a new line.
  slow.socket!.write(Buffer.from([0x82, 0x84, 0, 0, 0, 0, ...Buffer.from('yes\n')]))
  const { type, shown, socket } = await open()
  type('echo oth""er\n')
  await until(() => shown().includes('other'))
  slow.socket!.destroy()
  socket.close()
  await until(async () => (await system.daemon.sandbox.list()).length === 0)
})

test.each([
  ['text that is no resize', 'hello', 1008],
  ['a size that is none', '{"resize":{"cols":0,"rows":1}}', 1008],
  ['a text that is long', `{"resize":${' '.repeat(2000)}{"cols":1,"rows":1}}`, 1008],
  ['a frame that is too large', Buffer.alloc(300_000), 1009],
])('%s ends the terminal', async (_, data, code) => {
  const { socket, closed } = await open()
  socket.send(data)
  expect(await closed).toBe(code)
  await until(async () => (await system.daemon.sandbox.list()).length === 0)
})

test('the end of the access token ends the terminal', async () => {
  const { closed, told } = await open('', await system.servers.token({}, '2s'))
  expect([await closed, told]).toEqual([1011, [{ error: { code: 'token_expired', message: expect.any(String) } }]])
})

/** What a handshake with these headers is answered. */
function answerTo(headers: Record<string, string>, target = path()) {
  const key = Buffer.alloc(16).toString('base64')
  const handshake = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
  }
  return new Promise<{ status: number; code?: string; socket?: Socket }>((resolve, reject) => {
    const asking = request({ port: new URL(system.base).port, path: target, headers: { ...handshake, ...headers } })
    asking.on('error', reject)
    asking.on('upgrade', (answer, socket) => resolve({ status: answer.statusCode!, socket: socket as Socket }))
    asking.on('response', (answer) => {
      const told = (parts: unknown[]) => {
        const { code } = JSON.parse(parts.join('')) as { code: string }
        resolve({ status: answer.statusCode!, code })
      }
      answer.toArray().then(told, reject)
    })
    asking.end()
  })
}

describe('nobody else is let in', () => {
  test('without a token, with one that is none, of another team, or without the scope build', async () => {
    const bearer = async (claims: object) => ({ authorization: `Bearer ${await system.servers.token({ ...claims })}` })
    expect(await answerTo({})).toMatchObject({ status: 401, code: 'token_missing' })
    expect(await answerTo({ origin: 'https://elsewhere.example', cookie: 'a=b' })).toMatchObject({ status: 401 })
    expect(await answerTo({ authorization: 'Bearer a.b.c' })).toMatchObject({ status: 401, code: 'token_invalid' })
    expect(await answerTo({ 'sec-websocket-protocol': 'bearer' })).toMatchObject({ status: 401 })
    const { authorization } = await bearer({})
    const token = authorization.replace('Bearer ', '')
    expect(await answerTo({}, path(`?token=${token}&access_token=${token}`))).toMatchObject({ status: 401 })
    expect(await answerTo(await bearer({ groups: ['other'] }))).toMatchObject({ status: 403, code: 'forbidden' })
    expect(await answerTo(await bearer({ scope: 'read run' }))).toMatchObject({ status: 403, code: 'scope_missing' })
  })

  test('to a sandbox that is not there, or with a handshake or a size that is none', async () => {
    const authorization = `Bearer ${await system.servers.token()}`
    const usual = system.servers.answers.get('getSandbox')!
    system.servers.answers.set('getSandbox', () => {
      throw notFound('sandbox')
    })
    expect(await answerTo({ authorization })).toMatchObject({ status: 404, code: 'sandbox_not_found' })
    system.servers.answers.set('getSandbox', usual)
    expect(await answerTo({ authorization }, '/api/demo/rest/sandboxes/nope/terminal')).toMatchObject({ status: 404 })
    expect(await answerTo({ authorization, 'sec-websocket-version': '8' })).toMatchObject({
      status: 400,
      code: 'malformed_request',
    })
    expect(await answerTo({ authorization, 'sec-websocket-key': 'short' })).toMatchObject({ status: 400 })
    expect(await answerTo({ authorization }, path('?cols=0'))).toMatchObject({ status: 400, code: 'invalid_input' })
  })

  test('beyond as many as a team may have streams', async () => {
    const opened = await Promise.all([open(), open(), open()])
    const authorization = `Bearer ${await system.servers.token()}`
    expect(await answerTo({ authorization })).toMatchObject({ status: 429, code: 'too_many_streams' })
    for (const { socket } of opened) socket.close()
    await until(async () => (await system.daemon.sandbox.list()).length === 0)
  })
})

test('a request of another address that would be a WebSocket is answered like any other', async () => {
  const authorization = `Bearer ${await system.servers.token()}`
  const answer = await answerTo({ authorization }, '/api/demo/rest/nothing')
  expect(answer).toEqual({ status: 404, code: 'not_found' })
})
