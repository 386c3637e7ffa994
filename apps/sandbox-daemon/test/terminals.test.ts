import { until } from '@automation/testing'
import { startDaemonProcess, type DaemonProcess } from '@automation/testing/daemon-process'
import { afterAll, beforeAll, expect, test } from 'vitest'

let daemon: DaemonProcess

beforeAll(async () => {
  daemon = await startDaemonProcess({ environment: { OF_THE_SANDBOX: 'yes' } })
})
afterAll(() => daemon.stop())

const terminal = { columns: 100, rows: 30 }

/** Starts a command on a terminal; what it shows is collected. */
async function start(script: string) {
  const running = await daemon.sandbox.start(['sh', '-c', script], { terminal })
  let shown = ''
  const read = async () => {
    for await (const { data } of running.output()) shown += Buffer.from(data).toString()
  }
  return { ...running, over: read(), shown: () => shown }
}

test('a command on a terminal is typed to, sees the size and its changes, and tells how it ended', async () => {
  const { write, resize, shown, ended, over } = await start(
    'trap "stty size" WINCH; echo $TERM $OF_THE_SANDBOX; stty size; while :; do read word && break; done; exit 5',
  )
  await until(() => shown().includes('xterm-256color yes\r\n30 100'))
  resize({ columns: 200, rows: 60 })
  await until(() => shown().includes('60 200'))
  await write('word\n')
  await over
  expect(await ended).toMatchObject({ exitCode: 5, timedOut: false })
})

test('a program that is not there, and a size that is none, are refused', async () => {
  const refused = (command: string[], size: object, why: object) =>
    expect(daemon.sandbox.start(command, { terminal: { ...terminal, ...size } })).rejects.toMatchObject(why)
  await refused(['no-such-program'], {}, { code: 'program_not_found' })
  await refused(['sh'], { rows: 0 }, { code: 'invalid_input', fields: [{ path: '/start/pty/rows' }] })
  await refused(['sh'], { columns: 1001 }, { fields: [{ path: '/start/pty/columns' }] })
})

test('a command without a terminal has no size', async () => {
  const running = await daemon.sandbox.start(['cat'])
  running.resize(terminal)
  await expect(Array.fromAsync(running.output())).rejects.toMatchObject({ code: 'invalid_input' })
})

test('its end takes along all that was started on it', async () => {
  const { kill, shown, over, ended } = await start('trap "" HUP; sleep 98.7654 & echo ready; wait')
  await until(() => shown().includes('ready'))
  await kill()
  await over
  expect(await ended).toMatchObject({ signal: 'SIGKILL' })
  const { stdout } = await daemon.sandbox.run(['sh', '-c', 'ps -eo args || true'])
  expect(stdout.split('\n')).not.toContain('sleep 98.7654')
})
