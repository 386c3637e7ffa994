import type { Client } from '@automation/client'
import type { Readable, Writable } from 'node:stream'
import type { Target } from './context/choose-target.ts'
import type { Project } from './context/project-file.ts'
import type { Output } from './output/output.ts'

import { ExitError, exitCodes } from './exit.ts'

export { ExitError, exitCodes, usageError } from './exit.ts'
export type { Output } from './output/output.ts'

/** What the options of every command say. */
export interface Flags {
  json: boolean
  /** Answers every question of the program with yes. */
  yes: boolean
  url?: string
  team?: string
  context?: string
}

/** What a command works with: the world around the program, made once in main.ts. */
export interface Runtime {
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number }
  stderr: Writable & { isTTY?: boolean }
  env: Readonly<Record<string, string | undefined>>
  /** The folder that the program was started in. */
  cwd: string
  /** Whether somebody can be asked: stdin and stderr are a terminal, and `--json` is not given. */
  isTerminal: boolean
  flags: Flags
  out: Output
  /** The address and team that the command is for: flags, then PAS_*, then pas.yaml, then the stored context. */
  target(): Promise<Target>
  /** A client of `target`, with its token. Throws an ExitError that says how to sign in where there is none. */
  client(options?: ClientChoice): Promise<Client>
  /** The nearest pas.yaml, upwards from `cwd`. */
  project(): Promise<Project | undefined>
  /** Asks whether to go on; `--yes` says yes. Without a terminal it throws a usage error that names `--yes`. */
  confirm(question: string): Promise<boolean>
  /** Asks for a text that is not shown. Without a terminal it throws a usage error with `instead`. */
  askSecret(question: string, instead: string): Promise<string>
  /** Handles Ctrl-C in place of ending with 130, until the function that it returns is called. */
  onInterrupt(handler: () => void): () => void
}

/** For which target a client is wanted, where it is not the one of the command line. */
interface ClientChoice {
  target?: Target
  /** A token in place of the stored one. */
  token?: string
}

/** Asks whether to write, which then goes on to its end. Throws an ExitError with `instead` where the answer is no. */
export async function requireYes(runtime: Runtime, question: string, instead: string): Promise<void> {
  runtime.out.goesOnUnread = true
  if (!(await runtime.confirm(question))) throw new ExitError(exitCodes.refused, instead)
}
