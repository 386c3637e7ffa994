import tab from '@bomb.sh/tab/commander'
import type { Command } from 'commander'
import { examples } from '../output/examples.ts'

/**
 * `pas completion SHELL` prints the script of a shell, and `pas complete -- …` answers what that asks. Both look at all
 * commands of the program, which are there already.
 */
export function register(program: Command): void {
  tab(program, { completionCommandName: 'completion' })
  const command = program.commands.find((one) => one.name() === 'completion')
  if (command === undefined) throw new Error('The completion has no command')
  command.description('Print a script by which a shell completes commands and options.')
  examples(
    command,
    'source <(pas completion bash)',
    'source <(pas completion zsh)',
    'pas completion fish > ~/.config/fish/completions/pas.fish',
  )
}
