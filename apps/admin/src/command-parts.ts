import { timestampDate, type Timestamp } from '@bufbuild/protobuf/wkt'
import type { Command } from 'commander'
import type { Answer } from './answer.ts'
import type { Target } from './target.ts'

/** Runs one command's calls against the system and shows what came of them. */
export type Perform = (command: Command, call: (target: Target) => Promise<Answer>) => Promise<void>

/** What the help says of `--json`. */
export const jsonText = 'print the answer as JSON'

/** A word with commands below. */
export function group(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).option('--json', jsonText)
}

/** A command, such as `list <team>`. */
export function leaf(parent: Command, usage: string, description: string): Command {
  return parent.command(usage).description(description).option('--json', jsonText).showHelpAfterError()
}

/** A time as JSON and tables have it. */
export function time(timestamp: Timestamp | undefined): string | undefined {
  return timestamp === undefined ? undefined : timestampDate(timestamp).toISOString()
}

/** What a command does, given its arguments and options behind the target. */
export function acts<Args extends unknown[]>(
  perform: Perform,
  call: (target: Target, ...args: Args) => Promise<Answer>,
): (this: Command, ...args: Args) => Promise<void> {
  return function (...args) {
    return perform(this, (target) => call(target, ...args))
  }
}

/** Progress is no answer: it goes to stderr. */
export function tell(text: string | undefined): void {
  if (text !== undefined) process.stderr.write(`${text}\n`)
}
