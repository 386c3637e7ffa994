import { spawn, type ChildProcessWithoutNullStreams, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { TerminalSize } from '@automation/contract/sandbox/v1/daemon'
import { Failure, invalid } from '@automation/errors'

/** A command on a terminal: its process is that of a helper, which ends as the command does. */
export interface OnTerminal {
  child: ChildProcessWithoutNullStreams
  resize: (size: TerminalSize) => void
}

// Node opens no terminals: images carry a program for that, on one machine Python does the same.
const compiled = fileURLToPath(new URL('pty', import.meta.url))
const script = fileURLToPath(new URL('pty.py', import.meta.url))

const most = 1000
const noTerminal = 255
const codes: Readonly<Record<number, string>> = {
  1: 'EPERM',
  2: 'ENOENT',
  7: 'E2BIG',
  11: 'EAGAIN',
  12: 'ENOMEM',
  13: 'EACCES',
}

/**
 * Starts a program on a terminal of its own. `begun` is told the helper's process before the program runs. Rejects with
 * what the kernel says of the program, as `spawn` does. Failure: terminal_unavailable.
 */
export async function onTerminal(
  words: readonly string[],
  size: TerminalSize,
  options: Pick<SpawnOptions, 'cwd' | 'env'>,
  begun: (pid: number) => void,
): Promise<OnTerminal> {
  checkSize('/start/pty', size)
  const [helper = '', ...before] = existsSync(compiled)
    ? [compiled]
    : [process.env['DAEMON_PYTHON'] ?? 'python3', '-I', '-S', script]
  const child = spawn(helper, [...before, String(size.rows), String(size.columns), ...words], {
    ...options,
    env: { TERM: 'xterm-256color', ...options.env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  }) as ChildProcessWithoutNullStreams
  if (child.pid === undefined)
    await once(child, 'spawn').catch((error: unknown) => {
      throw unavailable(error)
    })
  begun(child.pid!)
  const control = child.stdio[3] as Duplex
  // Its end is told by that of the process.
  control.on('error', () => undefined)
  const said = await firstByte(control)
  if (said === undefined || said === noTerminal) throw unavailable()
  if (said !== 0) throw Object.assign(new Error(`error ${said}`), { code: codes[said] })
  return {
    child,
    resize: (wanted) => {
      checkSize('/resize', wanted)
      const bytes = Buffer.alloc(4)
      bytes.writeUInt16BE(wanted.rows, 0)
      bytes.writeUInt16BE(wanted.columns, 2)
      if (!control.destroyed && control.writable) control.write(bytes)
    },
  }
}

function checkSize(field: string, { columns, rows }: TerminalSize): void {
  for (const [name, value] of Object.entries({ columns, rows }))
    if (value < 1 || value > most) throw invalid(`${field}/${name}`, `must be from 1 to ${most}`)
}

function firstByte(control: Duplex): Promise<number | undefined> {
  return new Promise((resolve) => {
    control.once('data', (bytes: Buffer) => resolve(bytes[0]))
    control.once('close', () => resolve(undefined))
  })
}

function unavailable(cause?: unknown): Failure {
  return new Failure('failed_precondition', 'terminal_unavailable', 'There are no terminals in this sandbox', { cause })
}
