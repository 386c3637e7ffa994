import type { Command } from 'commander'
import { SessionService } from '@automation/contract/catalog/v1/session'
import { invalid } from '@automation/errors'
import { acts, group, leaf, type Perform } from './command-parts.ts'
import { consoleLink } from './console-link.ts'
import { operatorContext } from './operator-context.ts'

/** The commands for the console. */
export function addConsole(program: Command, perform: Perform): void {
  const console = group(program, 'console', 'the console, where people look at a system')
  leaf(
    console,
    'link [team]',
    'an address that signs somebody in, once, within 10 minutes; for the first team where none is named',
  )
    .option('--name <name>', 'what createdBy shows for them')
    .option('--scopes <words>', 'what they may do, with commas between: executor,admin where it is not said', '')
    .action(
      acts(perform, async (target, named: string | undefined, { name, scopes }: { name?: string; scopes: string }) => {
        const { consoleUrl, firstTeam } = target.shown
        const team = named ?? firstTeam
        if (consoleUrl === undefined) throw invalid('/CONSOLE_ENABLED', 'is false: there is no console')
        const url = await consoleLink(target, consoleUrl, { team, name, scopes: scopes.split(',').filter(Boolean) })
        return { json: { url, team }, text: url }
      }),
    )
  leaf(
    console,
    'end [team]',
    'end the sessions that reach a team within 10 s, and take back the addresses that sign in',
  )
    .option('--all', 'those of all teams')
    .action(
      acts(perform, async (target, named: string | undefined, { all }: { all?: boolean }) => {
        if ((named === undefined) !== (all === true)) throw invalid('/team', 'name a team, or --all')
        const { ended } = await target.client(SessionService).endSessions({ team: named ?? '' }, operatorContext())
        return { json: { ended }, text: `${ended} ${ended === 1 ? 'session has' : 'sessions have'} ended.` }
      }),
    )
}
