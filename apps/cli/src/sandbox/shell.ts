import { ReadStream } from 'node:tty'
import type { Client } from '@automation/client'
import { usageError, type Runtime } from '../runtime.ts'
import { exitCodeOf } from './exec.ts'

type Box = ReturnType<Client['sandboxes']['use']>

/** Opens a terminal in a sandbox on this one, and gives the exit code of its shell. */
export async function shell({ stdin, stdout }: Runtime, box: Box): Promise<number> {
  if (!(stdin instanceof ReadStream) || !stdout.isTTY)
    throw usageError(`A shell needs a terminal. Run a command: pas sandbox exec ${box.id} -- CMD`)
  const size = () => ({ columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 })
  const terminal = await box.terminal(size())
  const type = (data: Buffer) => terminal.write(data)
  const resize = () => terminal.resize(size())
  stdin.setRawMode(true)
  stdin.on('data', type).resume()
  stdout.on('resize', resize)
  try {
    for await (const data of terminal.output) stdout.write(data)
    const { exitCode, signal } = await terminal.ended
    return exitCodeOf({ code: exitCode, signal })
  } finally {
    stdin.off('data', type).setRawMode(false).pause()
    stdout.off('resize', resize)
    terminal.close()
  }
}
