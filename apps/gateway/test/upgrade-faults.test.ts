import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

const terminal = '/api/demo/rest/sandboxes/0198c0de-0000-7000-8000-000000000001/terminal'
const upgrade = (path: string, more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${more}\r\n`

/** Sends bytes and gives all that comes until the connection is closed. */
function sent(bytes: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    // A connection that is cut is as good as one that is closed.
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
  })
}

describe.each([
  ['the port of the interface', () => gateway.gateway.port(), terminal],
  ['the public ports of sandboxes', () => gateway.gateway.sandboxPorts().publicPort, '/x'],
  ['the console', () => gateway.gateway.consolePort(), terminal],
])('anybody who asks %s for another protocol', (_name, port, path) => {
  test.each([
    ['with a body that is announced', 'Content-Length: 5\r\n'],
    ['with a body in chunks', 'Transfer-Encoding: chunked\r\n'],
    ['with no body at all', 'Content-Length: 0\r\n'],
  ])('%s is refused, and others are served', async (_how, header) => {
    const answer = await sent(upgrade(path, `${header}Connection: close\r\n`), port())
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect((await fetch(`${gateway.base}/livez`)).status).toBe(200)
  })

  test('behind a request that is not answered yet harms nobody', async () => {
    const pending = `GET /api/demo/webhooks/hello HTTP/1.1\r\nHost: x\r\n\r\n`
    await sent(`${pending}${upgrade(path)}`, port())
    expect((await fetch(`${gateway.base}/livez`)).status).toBe(200)
  })
})
