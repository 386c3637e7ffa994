import { CommandService, FileService } from '@automation/contract/sandbox/v1/daemon'
import { keyedChannel } from '@automation/rpc/keyed'
import { type AttachedOutput, attachedOutput, detachCommand, type DetachOptions } from './detached-command.ts'
import { Files } from './files.ts'
import {
  startCommand,
  type CommandOptions,
  type RunningCommand,
  collected,
  type CommandResult,
  type RunOptions,
} from './running-command.ts'
import { Calls } from './calls.ts'

export { Failure } from '@automation/errors'
export type { CommandEnd, CommandOptions, Output, RunningCommand } from './running-command.ts'
export type { AttachedOutput, DetachOptions } from './detached-command.ts'
export type { CommandResult, RunOptions } from './running-command.ts'
export type { FileChange, FileInfo, Files } from './files.ts'

/** As the API answers when a sandbox is created. */
export interface SandboxAccess {
  /** `http://host:port`, or `https://host:port` with TLS; `unix:/path` for a daemon on this machine. */
  grpcServerUrl: string
  grpcApiKey: string
}

export interface ConnectionOptions {
  /** PEM of the authorities that are trusted for an `https` address; those of Node when absent. */
  certificateAuthorities?: string
}

export interface Sandbox {
  /**
   * Runs a command to its end and gives what it wrote. A command that fails is no error: look at `exitCode`.
   *
   * @example
   * const { exitCode, stdout } = await sandbox.run(['python3', '-c', 'print(6 * 7)'])
   * const sorted = await sandbox.run(['sort'], { input: 'b\na\n', timeoutMs: 5000 })
   */
  run(command: string[], options?: RunOptions): Promise<CommandResult>
  /**
   * Starts a command and gives it as it runs: its output comes as fast as you read it, no faster.
   *
   * @example
   * const server = await sandbox.start(['node', 'server.js'], { workingDirectory: 'app' })
   * for await (const { stream, data } of server.output()) process[stream].write(data)
   * console.log(await server.ended)
   */
  start(command: string[], options?: CommandOptions): Promise<RunningCommand>
  /**
   * Starts a command that goes on when this connection is closed, until it ends or its sandbox does; gives its id.
   *
   * @example
   * const id = await sandbox.detach(['python3', '-m', 'http.server', '3000'])
   * for await (const output of sandbox.attach(id)) if ('data' in output) process[output.stream].write(output.data)
   */
  detach(command: string[], options?: DetachOptions): Promise<string>
  /** What a detached command has written, as far as it is kept, then what it writes, and at last how it ended. */
  attach(id: string): AsyncIterable<AttachedOutput>
  /** Ends a detached command and all that it started, and forgets it. */
  remove(id: string): Promise<void>
  /** The commands that run, and detached ones, which have an id, the oldest first. */
  list(): Promise<{ pid: number; command: string[]; id?: string }[]>
  /** Ends a command and all that it started. */
  kill(pid: number): Promise<void>
  files: Files
  /** Whether the sandbox answers and serves. */
  health(timeoutMs?: number): Promise<boolean>
  /** Cuts the connection, and with it the commands that were started through it and still run. */
  close(): void
}

const maxMessageBytes = 8 * 1024 * 1024
const keepaliveMs = 20_000

/**
 * Connects to a sandbox, at the first call. Everything fails with a Failure, whose `code` says what went wrong:
 * `path_not_found`, `program_not_found`, `sandbox_key`, `unavailable` and so on. TypeError for an address that is none.
 *
 * @example
 * const sandbox = connectSandbox({ grpcServerUrl, grpcApiKey })
 * await sandbox.files.write('hello.txt', 'Hello')
 * console.log((await sandbox.run(['cat', 'hello.txt'])).stdout)
 * sandbox.close()
 */
export function connectSandbox(
  { grpcServerUrl, grpcApiKey }: SandboxAccess,
  { certificateAuthorities }: ConnectionOptions = {},
): Sandbox {
  const target = targetOf(grpcServerUrl, certificateAuthorities)
  const channel = keyedChannel({ ...target, apiKey: grpcApiKey, maxMessageBytes, keepaliveMs })
  const commands = channel.client(CommandService)
  const calls = new Calls()
  const start = (command: string[], options: CommandOptions = {}) => startCommand(commands, calls, command, options)
  return {
    start,
    run: async (command, options = {}) => collected(await start(command, options), options),
    list: async () =>
      (await commands.listCommands({}, calls.short())).commands.map(({ pid, command, id }) => ({
        ...{ pid, command },
        ...(id !== '' && { id }),
      })),
    detach: (command, options = {}) => detachCommand(commands, calls, command, options),
    attach: (id) => attachedOutput(commands, calls, id),
    remove: async (id) => void (await commands.killCommand({ id }, calls.short())),
    kill: async (pid) => void (await commands.killCommand({ pid }, calls.short())),
    files: new Files(channel.client(FileService), calls),
    health: (timeoutMs = 5000) => channel.isServing(timeoutMs),
    close: () => {
      calls.cut()
      channel.close()
    },
  }
}

function targetOf(url: string, authorities?: string): { address: string; tls?: { authorities?: string } } {
  const { protocol, hostname, port } = new URL(url)
  if (protocol === 'https:') return { address: `${hostname}:${port || 443}`, tls: { authorities } }
  // Who names an authority must not be connected without TLS.
  if (authorities !== undefined) throw new TypeError(`certificateAuthorities are for https addresses, not for ${url}`)
  if (protocol === 'unix:') return { address: url }
  if (protocol === 'http:') return { address: `${hostname}:${port || 80}` }
  throw new TypeError(`No address of a sandbox: ${url}`)
}
