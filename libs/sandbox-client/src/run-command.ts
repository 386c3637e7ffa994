import { Failure } from '@automation/errors'
import type { CommandEnd, CommandOptions, RunningCommand } from './running-command.ts'

export interface RunOptions extends CommandOptions {
  /** For standard input, which ends behind it. */
  input?: Uint8Array | string
  /** The most that is kept of each output; more fails with `output_too_large`. 64 MiB. */
  maxOutputBytes?: number
}

export interface CommandResult extends CommandEnd {
  /** As text, invalid UTF-8 replaced. */
  stdout: string
  stderr: string
}

/** Feeds a command its input and collects what it writes. */
export async function collected(running: RunningCommand, options: RunOptions): Promise<CommandResult> {
  const { input, maxOutputBytes = 64 * 1024 * 1024 } = options
  const feeding = input === undefined ? undefined : running.write(input)
  running.endInput()
  const parts = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] }
  const bytes = { stdout: 0, stderr: 0 }
  for await (const { stream, data } of running.output()) {
    bytes[stream] += data.length
    if (bytes[stream] > maxOutputBytes)
      throw new Failure('too_large', 'output_too_large', `The command wrote more than ${maxOutputBytes} bytes`)
    parts[stream].push(data)
  }
  void feeding
  return {
    ...(await running.ended),
    stdout: Buffer.concat(parts.stdout).toString(),
    stderr: Buffer.concat(parts.stderr).toString(),
  }
}
