import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { listening } from '@automation/testing/listening'
import { Environment } from '@automation/service'
import { silentLogger } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findInterpreter, Launcher, nodeMount, readIsolationConfig, type JailProgram } from '../src/index.ts'

const environment = { PATH: `/usr/local/bin:/usr/bin:/bin`, HOME: '' }
const node = (source: string, more: Partial<JailProgram> = {}): JailProgram => ({
  program: [process.execPath, '-e', source],
  environment,
  dataLimitBytes: 2 ** 31,
  ...more,
})

const hello = node(`require('fs').writeSync(4, 'here')`)
// Answers each connection with what an expression over its words gives.
const evaluator = node(
  `let key = ''
  process.stdin.on('data', (chunk) => (key += chunk))
  require('net').createServer({ allowHalfOpen: true }, (socket) => {
    let words = ''
    socket.on('data', (chunk) => (words += chunk))
    socket.on('end', async () => socket.end(JSON.stringify(await eval(words)) ?? 'null'))
  }).listen({ fd: 3 })`,
  { channels: [0], listens: true },
)

async function ask(path: string, expression: string): Promise<unknown> {
  const socket = new Socket().connect(path)
  await once(socket, 'connect')
  socket.end(expression)
  return JSON.parse(await text(socket)) as unknown
}

const local = await listening(createServer((socket) => socket.end('of the host')))
afterAll(local.close)

describe.each(['namespaces', 'pod', 'none'])('a child that stays and listens, behind %s', (wanted) => {
  const tmpDir = mkdtempSync(join(tmpdir(), 'jail-'))
  let launcher: Launcher | undefined
  let address = ''

  beforeAll(async () => {
    const isolation = { ...readIsolationConfig(new Environment({ ISOLATION: wanted })), network: 'host' as const }
    launcher = await Launcher.prepare({
      name: 'test',
      interpreter: await findInterpreter('python3'),
      tmpDir,
      account: 'sandbox',
      home: '/home/sandbox',
      homeMb: 16,
      processes: 64,
      apart: true,
      isolation,
      mounts: [nodeMount],
      trials: [hello],
      logger: silentLogger,
    }).catch(() => undefined)
    if (launcher === undefined) return
    const { listen, channels, output, errors, control } = await launcher.start(evaluator)
    for (const stream of [output, errors]) stream.onBytes(() => undefined)
    control.resume()
    channels[0]!.end('the key\n')
    address = listen!
  })
  afterAll(() => {
    launcher?.close()
    rmSync(tmpDir, { recursive: true, force: true })
  })

  test('is reached by its socket, and has been told by its input', async ({ skip }) => {
    if (launcher === undefined) return skip()
    expect(await ask(address, '1 + 1')).toBe(2)
    expect(await ask(address, 'key')).toBe('the key\n')
  })

  test('has a home of its own, which is empty and where it is', async ({ skip }) => {
    if (launcher === undefined) return skip()
    const home = await ask(address, 'process.env.HOME')
    expect(await ask(address, 'process.cwd()')).toBe(home)
    expect(await ask(address, `require('fs').readdirSync(process.env.HOME)`)).toEqual([])
    if (wanted === 'namespaces') expect(home).toBe('/home/sandbox')
  })

  test('shares no loopback with the host, where the isolation can part them', async ({ skip }) => {
    if (launcher?.isolation.level !== 'namespaces') return skip()
    const reach = (at: string) =>
      `new Promise((resolve) => require('net').connect(${at}, '127.0.0.1').on('data', (it) => resolve(String(it))).on('error', (it) => resolve(it.code)))`
    expect(await ask(address, reach(String(local.port)))).toBe('ECONNREFUSED')
    await ask(
      address,
      `new Promise((resolve) => require('net').createServer((it) => it.end('of its own')).listen(8000, '127.0.0.1', resolve))`,
    )
    expect(await ask(address, reach('8000'))).toBe('of its own')
  })

  test('is called as its account', async ({ skip }) => {
    if (launcher?.isolation.level !== 'namespaces') return skip()
    expect(await ask(address, `require('os').userInfo().username + require('os').hostname()`)).toBe('sandboxsandbox')
  })
})
