import { readFileSync } from 'node:fs'
import { ControlService } from '@automation/contract/sandbox/v1/daemon'
import { keyedChannel } from '@automation/rpc/keyed'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { apiKey, daemonKey, startDaemonProcess, system, type DaemonProcess } from '@automation/testing/daemon-process'

let daemon: DaemonProcess

beforeEach(async () => {
  daemon = await startDaemonProcess({ adopt: false })
})
afterEach(() => daemon.stop())

const adoption = { sandboxId: 'sandbox-1', grpcApiKey: apiKey, environment: {} }

test('a daemon that belongs to nobody answers health, and takes nothing but its adoption', async () => {
  expect(await daemon.sandbox.health()).toBe(true)
  await expect(daemon.sandbox.run(['true'])).rejects.toMatchObject({ code: 'sandbox_key' })
  await expect(daemon.connect(daemonKey).run(['true'])).rejects.toMatchObject({ code: 'sandbox_key' })
  const opening = daemon.control.connectPort(portRequest(), system())[Symbol.asyncIterator]().next()
  await expect(opening).rejects.toMatchObject({ code: 'not_adopted' })
})

test('it is adopted once', async () => {
  await daemon.control.adopt(adoption, system())
  await daemon.control.adopt(adoption, system())
  const taking = [
    { ...adoption, sandboxId: 'sandbox-2' },
    { ...adoption, grpcApiKey: 'sbx_another_key' },
  ]
  for (const other of taking)
    await expect(daemon.control.adopt(other, system())).rejects.toMatchObject({ code: 'already_adopted' })
  expect(await daemon.sandbox.run(['true'])).toMatchObject({ exitCode: 0 })
})

test('whoever adopts it may give the system another key, and the one before opens nothing then', async () => {
  await daemon.control.adopt({ ...adoption, daemonKey: 'the other key' }, system())
  await expect(daemon.control.adopt(adoption, system())).rejects.toMatchObject({ code: 'sandbox_key' })
  const other = { address: daemon.address, apiKey: 'the other key', maxMessageBytes: 1_000_000, keepaliveMs: 20_000 }
  const channel = keyedChannel(other)
  await channel.client(ControlService).adopt(adoption, system())
  channel.close()
})

test('only its own key opens it, to its users for commands and files, to the system for the rest', async () => {
  await daemon.adopt()
  for (const key of ['sbx_of_another_sandbox', daemonKey, `${apiKey}x`, apiKey.slice(0, -1)]) {
    const otherClient = daemon.connect(key)
    await expect(otherClient.run(['true'])).rejects.toMatchObject({ kind: 'unauthenticated', code: 'sandbox_key' })
    await expect(otherClient.files.read('/etc/hostname')).rejects.toMatchObject({ code: 'sandbox_key' })
    await expect(otherClient.files.write('x', 'y')).rejects.toMatchObject({ code: 'sandbox_key' })
    expect(await otherClient.health()).toBe(true)
  }
  const options = { address: daemon.address, apiKey, maxMessageBytes: 1_000_000, keepaliveMs: 20_000 }
  const channel = keyedChannel(options)
  await expect(channel.client(ControlService).adopt(adoption, system())).rejects.toMatchObject({ code: 'sandbox_key' })
  channel.close()
})

test('the keys stand neither in its arguments nor in its environment', async () => {
  await daemon.adopt()
  for (const file of ['cmdline', 'environ']) {
    const text = readFileSync(`/proc/${daemon.process.pid}/${file}`, 'utf8')
    expect(text).not.toContain(daemonKey)
    expect(text).not.toContain(apiKey)
  }
})

async function* portRequest() {
  yield { port: 80 }
}
