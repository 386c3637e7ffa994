import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { ControlService } from '@automation/contract/sandbox/v1/daemon'
import { keyedChannel } from '@automation/rpc/keyed'
import { until } from '@automation/testing'
import { apiKey, daemonKey, system as systemContext } from '@automation/testing/daemon-process'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startSandboxGateway, type SandboxGateway } from './sandbox-gateway.ts'

let system: SandboxGateway

beforeEach(async () => {
  system = await startSandboxGateway()
})
afterEach(() => system.stop())

test('commands and files of a sandbox are reached with its key', async () => {
  const sandbox = system.connect()
  const { exitCode, stdout } = await sandbox.run(['sh', '-c', 'cat; exit 3'], { input: 'through' })
  expect([exitCode, stdout]).toEqual([3, 'through'])
  await sandbox.files.write('a', 'content')
  expect(Buffer.from(await sandbox.files.read('a')).toString()).toBe('content')
  await expect(sandbox.files.read('b')).rejects.toMatchObject({ kind: 'not_found', code: 'path_not_found' })
  expect(await sandbox.health()).toBe(true)
})

test('operators see the calls', async () => {
  await system.connect().run(['true'])
  await expect(system.connect('another').run(['true'])).rejects.toMatchObject({ code: 'sandbox_key' })
  await until(async () => (await system.traffic())['call open'] === 0)
  expect(await system.traffic()).toEqual({ 'call passed': 1, 'call refused': 1, 'call open': 0 })
})

describe('nobody else is let in', () => {
  test.each([[''], ['sbx_of_another'], [daemonKey], ['x'.repeat(300)]])('with the key %j', async (key) => {
    await expect(system.connect(key).run(['true'])).rejects.toMatchObject({
      kind: 'unauthenticated',
      code: 'sandbox_key',
    })
  })

  test('once the sandbox is no more, from the next call on', async () => {
    const sandbox = system.connect()
    await sandbox.run(['true'])
    system.route = undefined
    await expect(sandbox.run(['true'])).rejects.toMatchObject({ code: 'sandbox_key' })
  })

  test('to what is for the system, even with the daemon key', async () => {
    const { grpcPort } = system.gateway.sandboxPorts()
    const options = { address: `127.0.0.1:${grpcPort}`, maxMessageBytes: 1_000_000, keepaliveMs: 20_000 }
    for (const [key, kind] of [
      [apiKey, 'unimplemented'],
      [daemonKey, 'unauthenticated'],
    ] as const) {
      const channel = keyedChannel({ ...options, apiKey: key })
      const adopting = channel.client(ControlService).adopt({ sandboxId: 'x', grpcApiKey: 'y' }, systemContext())
      await expect(adopting).rejects.toMatchObject({ kind })
      channel.close()
    }
  })
})

test('health without a key is that of the gateway', async () => {
  const { grpcPort } = system.gateway.sandboxPorts()
  system.route = undefined
  const session = connectHttp2(`http://127.0.0.1:${grpcPort}`)
  const call = session.request({
    ':method': 'POST',
    ':path': '/grpc.health.v1.Health/Check',
    'content-type': 'application/grpc',
  })
  call.end(Buffer.alloc(5))
  const trailers = new Promise<Record<string, unknown>>((resolve) => call.on('trailers', resolve))
  expect(Buffer.concat(await Array.fromAsync(call as AsyncIterable<Buffer>))).toEqual(
    Buffer.from([0, 0, 0, 0, 2, 8, 1]),
  )
  expect(await trailers).toMatchObject({ 'grpc-status': '0' })
  session.destroy()
})

test('a daemon that is away is told as unavailable, also in the middle of a call', async () => {
  const sandbox = system.connect()
  const running = await sandbox.start(['sleep', '1000'])
  system.daemon.process.kill('SIGKILL')
  await expect(Array.fromAsync(running.output())).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(sandbox.run(['true'])).rejects.toMatchObject({ kind: 'unavailable' })
})

test('a caller that gives a command up ends it', async () => {
  const caller = new AbortController()
  await system.connect().start(['sleep', '1000'], { signal: caller.signal })
  const direct = system.daemon.sandbox
  expect(await direct.list()).toHaveLength(1)
  caller.abort()
  await until(async () => (await direct.list()).length === 0)
})

test('a client that does not read stops its command and nobody else', async () => {
  const sandbox = system.connect()
  const slow = await sandbox.start(['sh', '-c', 'head -c 40000000 /dev/zero; echo done > finished'])
  const reading = slow.output()[Symbol.asyncIterator]()
  await reading.next()
  for (let i = 0; i < 5; i++) expect((await sandbox.run(['echo', 'quick'])).stdout).toBe('quick\n')
  await expect(sandbox.files.stat('finished')).rejects.toMatchObject({ code: 'path_not_found' })
  let bytes = 0
  for (let next = await reading.next(); !next.done; next = await reading.next()) bytes += next.value.data.length
  expect(bytes).toBeGreaterThan(36_000_000)
  await sandbox.files.stat('finished')
}, 60_000)

test('a stop does not wait for those who say nothing, and cuts what goes on', async () => {
  const { grpcPort } = system.gateway.sandboxPorts()
  const silent = connect(grpcPort, '127.0.0.1')
    .resume()
    .on('error', () => undefined)
  const closed = new Promise((resolve) => silent.on('close', resolve))
  const running = await system.connect().start(['sleep', '1000'])
  await system.gateway.stop(100)
  await closed
  await expect(Array.fromAsync(running.output())).rejects.toMatchObject({ kind: 'unavailable' })
})
