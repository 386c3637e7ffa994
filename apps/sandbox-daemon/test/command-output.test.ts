import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { onTestFinished, expect, test, vi } from 'vitest'
import { Command } from '../src/commands/command.ts'
import type { Spawned } from '../src/commands/spawned.ts'

test('what is left of one output is taken, though others flood the other one', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const child = Object.assign(new EventEmitter(), streams, { pid: 1 })
  const start = { command: ['any'], timeoutMs: 0 } as ConstructorParameters<typeof Command>[2]
  const command = new Command({ child } as unknown as Spawned, 'any', start)
  const heard = { standardOutput: 0, standardError: 0, ended: 0 }
  const reading = (async () => {
    for await (const { case: name, value } of command.output()) heard[name] += name === 'ended' ? 1 : value.length
  })()
  const settled = async () => {
    for (let nth = 0; nth < 100; nth += 1) await turn()
  }
  child.emit('exit', 0, null)
  vi.advanceTimersByTime(50)
  for (let nth = 0; nth < 40; nth += 1) streams.stdout.write(Buffer.alloc(64 * 1024))
  await settled()
  vi.advanceTimersByTime(50)
  await settled()
  streams.stderr.write('its own')
  await settled()
  vi.advanceTimersByTime(200)
  await reading
  expect(heard).toMatchObject({ standardError: 7, ended: 1 })
  expect(heard.standardOutput).toBeLessThan(1.5 * 2 ** 20)
})
