import { at, type Api, type Call } from './api.ts'
import { ApiError, ConnectionError } from './errors.ts'
import type * as types from './generated/types.ts'
import { jsonLines } from './json-lines.ts'
import { SandboxFiles } from './sandbox-files.ts'
import { openTerminal, type SandboxTerminal, type TerminalSize } from './sandbox-terminal.ts'
import type { CallOptions } from './transport.ts'

export interface CommandOptions extends CallOptions {
  /** Absolute, or from the home directory, where it is when absent. */
  workingDirectory?: string
  /** Added to the environment of the sandbox. */
  environment?: Record<string, string>
  /** For standard input, which ends behind it; at most 1 MiB. */
  input?: string
  /** The command is ended after so long. */
  timeoutMs?: number
}

export interface RunCommandOptions extends CommandOptions {
  /** Gets what it writes as it comes. */
  onStdout?: (text: string) => void
  onStderr?: (text: string) => void
}

export interface CommandEnd {
  /** 0 to 255; -1 where a signal ended it. */
  exitCode: number
  /** Such as SIGKILL. */
  signal?: string
  timedOut: boolean
}

export interface CommandResult extends CommandEnd {
  stdout: string
  stderr: string
}

/** What a detached command writes, how many bytes of that are not kept, or how it ended. */
export type CommandOutput = { stream: 'stdout' | 'stderr'; text: string } | { lost: number } | { ended: CommandEnd }

type Line =
  | { type: 'stdout' | 'stderr'; data: string }
  | { type: 'lost'; bytes: number }
  | { type: 'exit'; code: number; signal?: string; timedOut?: boolean }
  | { type: 'error'; code: string; message: string }

/** A sandbox of the team: its commands, files, terminals and ports. */
export class TeamSandbox implements AsyncDisposable {
  /** As it was when it was asked for. */
  readonly record: types.Sandbox
  readonly files: SandboxFiles
  readonly #api: Api

  constructor(api: Api, record: types.Sandbox) {
    this.#api = api
    this.record = record
    this.files = new SandboxFiles(api, record.id)
  }

  get id(): string {
    return this.record.id
  }

  /** For `connectSandbox` of `./sandbox`, which speaks gRPC. */
  get grpcServerUrl(): string {
    return this.record.grpcServerUrl
  }

  get grpcApiKey(): string {
    return this.record.grpcApiKey
  }

  /** The address of one of its ports from outside. RangeError where that is none of those it was made with. */
  url(port: number): string {
    const url = this.record.publicUrls[port]
    if (url !== undefined) return url
    const ports = this.record.publicHttpPorts.join(', ') || 'none'
    throw new RangeError(
      `Port ${port} of the sandbox is not public; those are: ${ports}. Name it in \`ports\` of create`,
    )
  }

  /**
   * Runs a command to its end. A failed command does not throw: look at `exitCode`. An abort ends it. Never repeated.
   *
   * @example
   * const { exitCode } = await box.run(['pytest'], { onStdout: (text) => process.stdout.write(text), timeoutMs: 60_000 })
   */
  async run(command: readonly string[], options: RunCommandOptions = {}): Promise<CommandResult> {
    const { onStdout, onStderr, ...command_ } = options
    const response = await this.#api.open('POST', this.#commands, {
      ...callOf(command_),
      body: inputOf(command, command_),
    })
    const [stdout, stderr]: [string[], string[]] = [[], []]
    for await (const output of outputOf(response, options.signal)) {
      if ('ended' in output) return { ...output.ended, stdout: stdout.join(''), stderr: stderr.join('') }
      if ('lost' in output) continue
      const isOut = output.stream === 'stdout'
      ;(isOut ? stdout : stderr).push(output.text)
      ;(isOut ? onStdout : onStderr)?.(output.text)
    }
    throw cutShort()
  }

  /** Starts a command that goes on without its caller; gives its id. */
  async detach(command: readonly string[], options: CommandOptions = {}): Promise<string> {
    const body = { ...inputOf(command, options), detached: true }
    const { commandId } = await this.#api.call<types.DetachedCommandStart>('POST', this.#commands, {
      ...callOf(options),
      body,
    })
    return commandId
  }

  /** What a detached command has written, as far as it is kept, then what it writes, and at last how it ended. */
  async *attach(commandId: string, options: CallOptions = {}): AsyncGenerator<CommandOutput> {
    const path = at`/sandboxes/${this.id}/commands/${commandId}`
    for await (const output of outputOf(await this.#api.open('GET', path, options), options.signal)) {
      yield output
      if ('ended' in output) return
    }
    throw cutShort()
  }

  /** Its detached commands, the oldest first. */
  commands(options?: CallOptions): Call<types.DetachedCommand[]> {
    return this.#api.call('GET', this.#commands, options)
  }

  /** Ends a detached command and all that it started, and forgets it. */
  remove(commandId: string, options?: CallOptions): Call<void> {
    return this.#api.call('DELETE', at`/sandboxes/${this.id}/commands/${commandId}`, options)
  }

  /** A shell on a terminal. */
  async terminal(size?: TerminalSize): Promise<SandboxTerminal> {
    const query = { cols: size?.columns, rows: size?.rows }
    const address = this.#api.address(at`/sandboxes/${this.id}/terminal`, { query })
    return openTerminal(address, await this.#api.accessToken())
  }

  /** Moves its deadline to so long from now. */
  extend(timeoutMs: number, options?: CallOptions): Call<types.Sandbox> {
    return this.#api.call('POST', at`/sandboxes/${this.id}`, { ...options, body: { timeout: timeoutMs } })
  }

  kill(options?: CallOptions): Call<types.Sandbox> {
    return this.#api.call('POST', at`/sandboxes/${this.id}/kill`, options, { isRepeatable: true })
  }

  /** Ends it, whether it still runs or not. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.kill()
    } catch (error) {
      if (!(error instanceof ApiError) || (error.status !== 404 && error.code !== 'sandbox_ended')) throw error
    }
  }

  get #commands(): string {
    return at`/sandboxes/${this.id}/commands`
  }
}

const callOf = ({ signal, requestTimeoutMs, headers }: CallOptions) => ({ signal, requestTimeoutMs, headers })

function inputOf([command, ...args]: readonly string[], options: CommandOptions): types.RunCommandInput {
  if (command === undefined) throw new TypeError('Say which command to run')
  const { workingDirectory: cwd, environment: env, input: stdin, timeoutMs } = options
  return { command, args, cwd, env, stdin, timeoutMs }
}

async function* outputOf(response: Response, signal?: AbortSignal): AsyncGenerator<CommandOutput> {
  try {
    for await (const line of jsonLines<Line>(response)) {
      if (line.type === 'lost') yield { lost: line.bytes }
      else if (line.type === 'error') throw new ConnectionError(`${line.code}: ${line.message}`)
      else if (line.type === 'exit')
        yield { ended: { exitCode: line.code, signal: line.signal, timedOut: line.timedOut ?? false } }
      else if (line.data !== '') yield { stream: line.type, text: line.data }
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

const cutShort = () =>
  new ConnectionError('The answer was cut before the command ended: whether it goes on is not known')
