import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Duplex } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { forward } from '../src/sandbox/forward.ts'

const upgraded: Duplex[] = []
let sandbox: Server
let server: Server
let port = 0

beforeAll(async () => {
  sandbox = createServer((request, response) => response.end(`at ${request.url}`)).listen(0, '127.0.0.1')
  sandbox.on('upgrade', (_, socket: Duplex) => upgraded.push(socket.on('error', () => undefined)))
  await once(sandbox, 'listening')
  const forwarded = await forward(`http://127.0.0.1:${(sandbox.address() as AddressInfo).port}`, 0)
  server = forwarded.server
  port = Number(new URL(forwarded.address).port)
})

afterAll(async () => {
  for (const socket of upgraded) socket.destroy()
  for (const one of [server, sandbox]) {
    one.closeAllConnections()
    await once(one.close(), 'close')
  }
})

const upgradeHead = 'GET /socket HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: test\r\n\r\n'

/** A connection that has sent this. */
async function sent(bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(bytes)
  return socket
}

/** The connection that asks the sandbox for an upgrade. */
async function nextUpgraded(): Promise<Duplex> {
  const before = upgraded.length
  await expect.poll(() => upgraded.length).toBe(before + 1)
  return upgraded[before]!
}

test.each([
  ['OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 'HTTP/1.1 400 '],
  ['GET http://other.example/x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 'HTTP/1.1 400 '],
  ['GET http://x/y HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: test\r\n\r\n', 'HTTP/1.1 400 '],
  ['GET //other.example HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 'at //other.example'],
])('what is no path is refused, and ends nothing: %j', async (bytes, answer) => {
  expect(await text(await sent(bytes))).toContain(answer)
  expect(await (await fetch(`http://127.0.0.1:${port}/a?b=c`)).text()).toBe('at /a?b=c')
})

test('a client that is gone before its upgrade is answered takes its own connection along, and no other', async () => {
  const [inSandbox, client] = await Promise.all([nextUpgraded(), sent(upgradeHead)])
  const gone = new Promise((resolve) => inSandbox.resume().once('end', resolve).once('close', resolve))
  client.resetAndDestroy()
  await gone
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('at /')
})

test('what a client sends behind its upgrade arrives, though the upgrade is not answered yet', async () => {
  const [inSandbox, client] = await Promise.all([nextUpgraded(), sent(`${upgradeHead}early`)])
  inSandbox.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: test\r\n\r\n')
  let arrived = ''
  inSandbox.on('data', (part: Buffer) => (arrived += part.toString()))
  client.write(' late')
  await expect.poll(() => arrived).toBe('early late')
  inSandbox.end('done')
  expect(await text(client)).toMatch(/^HTTP\/1\.1 101 [^]*\r\n\r\ndone$/)
})
