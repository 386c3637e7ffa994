import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { connectSandbox } from '@automation/client/sandbox'
import { daemonKey } from '@automation/testing/daemon-process'
import { expect, onTestFinished, test } from 'vitest'

const program = fileURLToPath(import.meta.resolve('@automation/sandbox-daemon/main'))

test('a daemon that listens everywhere is reached by IPv4, too', async () => {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const daemon = spawn(process.execPath, [program], {
    env: { PATH, NODE_COMPILE_CACHE, DAEMON_LISTEN: '[::]:0' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void daemon.kill())
  daemon.stdin.end(`${daemonKey}\n`)
  const { value } = await createInterface({ input: daemon.stdout })[Symbol.asyncIterator]().next()
  const { port } = JSON.parse(value as string) as { port: number }
  const sandbox = connectSandbox({ grpcServerUrl: `http://127.0.0.1:${port}`, grpcApiKey: 'any' })
  onTestFinished(() => sandbox.close())
  expect(await sandbox.health()).toBe(true)
})
