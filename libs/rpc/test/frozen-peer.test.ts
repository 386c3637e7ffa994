import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { WireNetwork } from '@automation/rpc/wire'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ProbeService } from './probe/probe_pb.ts'
import { call, internalKey } from './shapes.ts'

let peer: ChildProcess
let lines: AsyncIterator<string>
let network: WireNetwork

beforeEach(async () => {
  const program = fileURLToPath(new URL('frozen-peer-server.ts', import.meta.url))
  peer = spawn(process.execPath, [program, internalKey], { stdio: ['ignore', 'pipe', 'inherit'] })
  lines = createInterface(peer.stdout!)[Symbol.asyncIterator]()
  const { value: port } = await lines.next()
  const addresses = { probe: [`127.0.0.1:${port}`] }
  network = new WireNetwork({ addresses, key: { internalKey }, maxMessageBytes: 100_000, keepaliveMs: 200 })
})

afterEach(() => {
  network.close()
  peer.kill('SIGKILL')
})

test('an open stream to a peer that freezes fails as unavailable, though nothing closed the connection', async () => {
  const reading = (async () => {
    for await (const _ of network.client(ProbeService).count({}, call())) peer.kill('SIGSTOP')
  })()
  await expect(reading).rejects.toMatchObject({ kind: 'unavailable' })
})

test('a peer that thaws learns that its caller is gone', async () => {
  const reading = (async () => {
    for await (const _ of network.client(ProbeService).count({}, call())) peer.kill('SIGSTOP')
  })()
  await expect(reading).rejects.toMatchObject({ kind: 'unavailable' })
  peer.kill('SIGCONT')
  expect((await lines.next()).value).toBe('gone')
})

test('a call to a peer that is killed in the middle fails as unavailable', async () => {
  const reading = (async () => {
    for await (const _ of network.client(ProbeService).count({}, call())) peer.kill('SIGKILL')
  })()
  await expect(reading).rejects.toMatchObject({ kind: 'unavailable' })
})
