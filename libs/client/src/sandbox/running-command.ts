import type { MessageInitShape } from '@bufbuild/protobuf'
import type {
  CommandService,
  RunCommandRequestSchema,
  RunCommandResponse,
} from '@automation/contract/sandbox/v1/daemon'
import { Failure } from '@automation/errors'
import type { Client } from '@automation/rpc'
import { MessageQueue } from '@automation/rpc/message-queue'
import { type Calls, pieces } from './calls.ts'

export interface CommandOptions {
  /** Absolute, or from the home directory of the sandbox, where it is when absent. */
  workingDirectory?: string
  /** Added to the environment of the sandbox. */
  environment?: Record<string, string>
  /** Ended after so long. */
  timeoutMs?: number
  /** On a terminal of this size in place of its three streams: all that it shows is stdout. */
  terminal?: TerminalSize
  /** Ends the command, and all that it started, when it is aborted. */
  signal?: AbortSignal
}

/** In characters. */
export interface TerminalSize {
  columns: number
  rows: number
}

export interface Output {
  stream: 'stdout' | 'stderr'
  data: Uint8Array
}

export interface CommandEnd {
  /** 0 to 255; -1 when a signal ended it. */
  exitCode: number
  /** Such as SIGKILL. */
  signal?: string
  timedOut: boolean
}

/** A command that runs. It ends when the connection does. */
export interface RunningCommand {
  pid: number
  /** What it writes; to be read once. A command whose output nobody reads waits. */
  output(): AsyncIterable<Output>
  /** How it ended; comes when the output has been read. */
  ended: Promise<CommandEnd>
  /** Resolves when more may be written, or the command has ended. */
  write(data: Uint8Array | string): Promise<void>
  endInput(): void
  /** Sends a signal, by number, to it and all that it started. */
  signal(number: number): void
  /** Of its terminal. */
  resize(size: TerminalSize): void
  /** Ends it and all that it started. */
  kill(): Promise<void>
}

type Request = MessageInitShape<typeof RunCommandRequestSchema>

/** Starts a command; answers when it runs. Errors: those of the call, where it can't be started. @internal */
export async function startCommand(
  commands: Client<typeof CommandService>,
  calls: Calls,
  command: string[],
  { workingDirectory, environment = {}, timeoutMs = 0, terminal, signal }: CommandOptions,
): Promise<RunningCommand> {
  const requests = new MessageQueue<Request>()
  const left = new AbortController()
  requests.push({
    message: { case: 'start', value: { command, workingDirectory, environment, timeoutMs, pty: terminal } },
  })
  const responses = commands.runCommand(requests, calls.open(left.signal, signal))[Symbol.asyncIterator]()
  const leave = () => {
    requests.abort()
    left.abort()
  }
  const pid = await startOf(responses).catch((error: unknown) => {
    leave()
    throw error
  })
  const end = Promise.withResolvers<CommandEnd>()
  // Who does not ask how it ended hears of a failure by the output.
  end.promise.catch(() => undefined)
  return {
    pid,
    output: () => outputOf(responses, end, leave),
    ended: end.promise,
    write: async (data) => {
      // All at once, so that what is written or said next comes behind it.
      const pushed = [...pieces(data)].map((value) => requests.pass({ message: { case: 'input', value } }))
      await pushed.at(-1)
    },
    endInput: () => requests.push({ message: { case: 'endOfInput', value: {} } }),
    resize: (size) => requests.push({ message: { case: 'resize', value: size } }),
    signal: (number) => requests.push({ message: { case: 'signal', value: number } }),
    kill: async () => {
      await commands.killCommand({ pid }, calls.short()).catch((error: unknown) => {
        // It has ended by itself.
        if (!(error instanceof Failure) || error.code !== 'command_not_found') throw error
      })
    },
  }
}

async function startOf(responses: AsyncIterator<RunCommandResponse>): Promise<number> {
  const { value } = (await responses.next()) as IteratorResult<RunCommandResponse, undefined>
  if (value?.message.case === 'started') return value.message.value.pid
  throw new Failure('internal', 'protocol', 'The sandbox did not say that the command has started')
}

async function* outputOf(
  responses: AsyncIterator<RunCommandResponse>,
  end: PromiseWithResolvers<CommandEnd>,
  leave: () => void,
): AsyncGenerator<Output> {
  try {
    for (let next = await responses.next(); !next.done; next = await responses.next()) {
      const { message } = next.value
      if (message.case === 'standardOutput') yield { stream: 'stdout', data: message.value }
      else if (message.case === 'standardError') yield { stream: 'stderr', data: message.value }
      else if (message.case === 'ended') {
        const { exitCode, signal, timedOut } = message.value
        end.resolve({ exitCode, signal, timedOut })
      }
    }
  } catch (error) {
    end.reject(error)
    throw error
  } finally {
    end.reject(new Failure('unavailable', 'call_cancelled', 'Nobody waited for the end of the command'))
    leave()
    await responses.return?.()
  }
}

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

/** Feeds a command its input and collects what it writes. @internal */
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
