import { Command } from 'commander'
import type { Called } from './called.ts'
import { acts, jsonText, leaf, type Perform } from './command-parts.ts'
import { addConsole } from './console.ts'
import { addEncryptionKey, addKeys } from './keys.ts'
import { addPools } from './pools.ts'
import { addRunners } from './runners.ts'
import { addTeams } from './teams.ts'
import { addApiTokens } from './tokens.ts'
import { usageReport, type ReportOptions } from './usage-report.ts'

export { fromClone, inImage, type Called } from './called.ts'

/** The whole command line, as it is called; `perform` opens the system, prints and reports failures. */
export function adminProgram(perform: Perform, called: Called): Command {
  const program = new Command('admin')
    .description("Teams, API tokens and keys of a system: an operator's tasks.")
    .usage('[--json] <group> <command> [argument...]')
    .option('--json', jsonText)
    .addHelpText('after', helpOn(called))
    .showHelpAfterError()
  addTeams(program, perform, called)
  leaf(program, 'usage', 'what each team has used in a month; how much it stores is that of now')
    .requiredOption('--month <month>', 'such as 2026-11, in UTC')
    .option('--format <format>', 'table or csv', 'table')
    .action(acts(perform, (target, options: ReportOptions) => usageReport(target, options)))
  addRunners(program, perform)
  addPools(program, perform, called)
  addApiTokens(program, perform)
  addConsole(program, perform)
  addKeys(program, perform)
  addEncryptionKey(program, perform)
  return program
}

const helpOn = ({ as, quietly, system }: Called) => `
Which system: ${system}

  ${as} teams create acme
  ${quietly} tokens create acme --name ci     prints the token and nothing else`
