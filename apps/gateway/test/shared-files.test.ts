import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryAtRest } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests
let folder: string
const sockets: Socket[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'console-'))
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'assets/a-1.js'), 'x'.repeat(2_000_000))
  gateway = await startGateway({}, { console: { port: 0, url: undefined, folder } })
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(async () => {
  await gateway.stop()
  await rm(folder, { recursive: true })
})

/** A client that asks for more than the system keeps of it, and takes only the beginning. */
async function greedy(base: string, path: string): Promise<void> {
  const socket = connect(Number(new URL(base).port), '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(8))
  await once(socket, 'readable')
}

test.each([
  ['the page of the interface', '/docs/swagger-ui-bundle.js', () => gateway.base],
  ['the document', '/openapi.json', () => gateway.base],
  ['a file of the console', '/assets/a-1.js', () => gateway.console],
])('clients that ask for %s and do not take it hold no copy each', async (_, path, base) => {
  const whole = async () => (await fetch(`${base()}${path}`)).text()
  await whole()
  const held = () => memoryAtRest() + process.memoryUsage().arrayBuffers
  const before = held()
  await Promise.all(Array.from({ length: 40 }, () => greedy(base(), path)))
  // What has come before is known to be answered as far as it can be.
  await whole()
  await whole()
  expect(held() - before).toBeLessThan(20_000_000)
})

test('a file of the console is given as it is now, also where it was not there before', async () => {
  const get = async () => {
    const answer = await fetch(`${gateway.console}/logo.svg`)
    return answer.headers.get('content-type') === 'image/svg+xml' ? answer.text() : undefined
  }
  expect(await get()).toBeUndefined()
  await writeFile(join(folder, 'logo.svg'), '<svg/>')
  expect(await get()).toBe('<svg/>')
  await writeFile(join(folder, 'logo.svg'), '<svg id="new"/>')
  expect(await get()).toBe('<svg id="new"/>')
  await rm(join(folder, 'logo.svg'))
  expect(await get()).toBeUndefined()
})
