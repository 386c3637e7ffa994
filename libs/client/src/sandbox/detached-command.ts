import type { CommandService } from '@automation/contract/sandbox/v1/daemon'
import { Failure } from '@automation/errors'
import type { Client } from '@automation/rpc'
import type { Calls } from './calls.ts'
import type { CommandEnd, CommandOptions, Output } from './running-command.ts'

export interface DetachOptions extends Omit<CommandOptions, 'signal'> {
  /** For standard input, which ends behind it; at most 1 MiB. */
  input?: Uint8Array | string
}

/** What a detached command writes, how many bytes of that are not kept, or how it ended. */
export type AttachedOutput = Output | { lost: number } | { ended: CommandEnd }

/** Starts a command that goes on without its caller; gives its id. @internal */
export async function detachCommand(
  commands: Client<typeof CommandService>,
  calls: Calls,
  command: string[],
  { workingDirectory, environment = {}, timeoutMs = 0, terminal, input = '' }: DetachOptions,
): Promise<string> {
  const value = {
    command,
    workingDirectory,
    environment,
    timeoutMs,
    pty: terminal,
    detached: true,
    input: Buffer.from(input),
  }
  const requests = (async function* () {
    yield { message: { case: 'start' as const, value } }
  })()
  for await (const { message } of commands.runCommand(requests, calls.short()))
    if (message.case === 'started') return message.value.id
  throw new Failure('internal', 'protocol', 'The sandbox did not say that the command has started')
}

/** What it has written and writes. Failure command_not_found. @internal */
export async function* attachedOutput(
  commands: Client<typeof CommandService>,
  calls: Calls,
  id: string,
): AsyncGenerator<AttachedOutput> {
  const left = new AbortController()
  try {
    for await (const { message } of commands.attachCommand({ id }, calls.open(left.signal))) {
      if (message.case === 'standardOutput') yield { stream: 'stdout', data: message.value }
      else if (message.case === 'standardError') yield { stream: 'stderr', data: message.value }
      else if (message.case === 'lost') yield { lost: Number(message.value) }
      else if (message.case === 'ended') {
        const { exitCode, signal, timedOut } = message.value
        yield { ended: { exitCode, signal, timedOut } }
      }
    }
  } finally {
    left.abort()
  }
}
