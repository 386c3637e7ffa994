import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { until } from '@automation/testing'
import { expect, test } from 'vitest'
import { startDaemonProcess } from '@automation/testing/daemon-process'

test('a daemon that is told to stop ends its commands and what they left, and exits as ended by its signal', async () => {
  const daemon = await startDaemonProcess()
  const { stdout } = await daemon.sandbox.run(['sh', '-c', 'setsid sleep 1000 & echo $!'])
  const running = await daemon.sandbox.start(['sleep', '1000'])
  daemon.process.kill('SIGTERM')
  const [code] = (await once(daemon.process, 'exit')) as [number]
  expect(code).toBe(128 + 15)
  for (const pid of [Number(stdout), running.pid]) await until(() => !existsSync(`/proc/${pid}/exe`))
  await daemon.stop()
})
