import type { Command } from 'commander'

/** Adds command lines to the help of a command. */
export function examples(command: Command, ...lines: string[]): Command {
  return command.addHelpText(
    'after',
    `\nExample${lines.length === 1 ? '' : 's'}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`,
  )
}
