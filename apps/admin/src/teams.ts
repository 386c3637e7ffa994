import type { Timestamp } from '@bufbuild/protobuf/wkt'
import type { Command } from 'commander'
import { TeamService, type Suspension } from '@automation/contract/catalog/v1/team'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { invalid } from '@automation/errors'
import type { Called } from './called.ts'
import { cellCalled, firstCell, giveUpMove, moveToCell } from './cell-move.ts'
import { acts, group, leaf, tell, time, type Perform } from './command-parts.ts'
import { operatorContext } from './operator-context.ts'
import { whyNoneForNewTeam } from './runners.ts'
import { purgeTeam } from './team-removal.ts'
import { resumeTeam, suspendTeam } from './team-suspension.ts'
import { exportTeam, importTeam, type ImportedTeam } from './team-transfer.ts'

/** The commands for teams. */
export function addTeams(program: Command, perform: Perform, called: Called): void {
  const teams = group(program, 'teams', 'teams, and whose modules and variables they may inherit')
  leaf(teams, 'create <slug>', 'make a team')
    .option('--cell <cell>', 'where its executions are to be, of a system with several cells', firstCell)
    .action(
      acts(perform, async (target, slug: string, { cell }: { cell: string }) => {
        const wanted = { slug, cell: cellCalled(target, cell, '/cell') }
        const team = await target.client(TeamService).createTeam(wanted, operatorContext())
        const waits = await whyNoneForNewTeam(target)
        const next = `Make an API token for it: ${called.quietly} tokens create ${team.slug}`
        return {
          json: { ...teamRecord(team), ...(waits !== undefined && { warning: waits }) },
          text: [`Team ${team.slug} is made.`, ...(waits === undefined ? [] : [waits]), next].join('\n'),
        }
      }),
    )
  leaf(teams, 'list', 'all teams').action(
    acts(perform, async (target) => {
      const records = (await target.client(TeamService).listTeams({}, operatorContext())).teams.map(teamRecord)
      const rows = records.map(({ slug, name, parentTeamSlugs, createdAt, cell, movingTo, suspension }) => [
        ...[slug, name, parentTeamSlugs.join(' ') || '-', createdAt, cell],
        movingTo === undefined ? stateOf(suspension) : `moves to the cell ${movingTo}`,
      ])
      return { json: records, table: { head: ['TEAM', 'NAME', 'PARENTS', 'CREATED', 'CELL', 'STATE'], rows } }
    }),
  )
  addTeamLimit(teams, perform)
  leaf(teams, 'suspend <team>', 'let nothing new run for a team; its members read on')
    .option('--reason <words>', 'what its members are told', '')
    .option('--kill', 'also kill what runs')
    .action(
      acts(perform, (target, team: string, { reason, kill = false }: { reason: string; kill?: boolean }) =>
        suspendTeam(target, team, { reason, kill }),
      ),
    )
  leaf(teams, 'resume <team>', 'let a suspended team run again; what waits begins').action(
    acts(perform, (target, team: string) => resumeTeam(target, team)),
  )
  leaf(teams, 'purge <team>', 'remove a team with all that it has, but for audit records; cut off, do it again')
    .requiredOption('--confirm <team>', 'its slug once more')
    .action(
      acts(perform, (target, team: string, { confirm }: { confirm: string }) =>
        purgeTeam(target, team, { confirm, tell }),
      ),
    )
  addTeamTransfer(teams, perform)
  addCellMove(teams, perform)
  leaf(teams, 'allow-all-addresses <team>', 'let the tokens of a team be used from anywhere again').action(
    acts(perform, async (target, team: string) => {
      await target.client(TeamService).clearAllowedAddresses({ team }, operatorContext())
      return {
        json: { team, allowedAddresses: [] },
        text: `Tokens of team ${team} are taken from anywhere, within 5 seconds.`,
      }
    }),
  )
  leaf(teams, 'grant-parent <child> <parent>', 'let a team name another as its parent').action(
    acts(perform, async (target, child: string, parent: string) => {
      await target.client(TeamService).grantParent({ child, parent }, operatorContext())
      return { json: { child, parent, granted: true }, text: `Team ${child} may now name ${parent} as a parent.` }
    }),
  )
  leaf(teams, 'revoke-parent <child> <parent>', 'take that back; it holds from the next run on').action(
    acts(perform, async (target, child: string, parent: string) => {
      await target.client(TeamService).revokeParent({ child, parent }, operatorContext())
      return { json: { child, parent, granted: false }, text: `Team ${child} may no longer inherit from ${parent}.` }
    }),
  )
}

function addCellMove(teams: Command, perform: Perform): void {
  leaf(teams, 'move <team>', 'move the executions of a team to another cell, while it works; cut off, do it again')
    .requiredOption('--to <cell>', `the cell; ${firstCell} is the first one`)
    .option('--wait <seconds>', 'how long to wait for what runs', '60')
    .option('--give-up', 'leave the team where it is, after a move that was cut off')
    .action(
      acts(perform, (target, team: string, options: { to: string; wait: string; giveUp?: boolean }) => {
        const to = cellCalled(target, options.to, '/to')
        if (options.giveUp) return giveUpMove(target, team)
        return moveToCell(target, team, { to, waitS: Number(wholeNumber(options.wait)), tell })
      }),
    )
}

const urlText = 'where the REST interface is, where no system runs here'

function addTeamTransfer(teams: Command, perform: Perform): void {
  leaf(teams, 'export <team>', 'write all that a team has, but its secrets, as files that pas push reads')
    .requiredOption('--out <folder>', 'a folder that is not there yet')
    .option('--executions', 'also the records of executions')
    .option('--url <url>', urlText)
    .action(
      acts(perform, (target, team: string, options: { out: string; executions?: boolean; url?: string }) =>
        exportTeam(target, team, { ...options, executions: options.executions ?? false, tell }),
      ),
    )
  leaf(teams, 'import <folder>', 'bring an exported team into another one; cut off, do it again')
    .requiredOption('--team <team>', 'its slug; it is made where it is not there')
    .option('--secret <name...>', 'variables of the environment that the folder may take secrets from')
    .option(
      '--api-tokens <file>',
      'make the service accounts that are missing, and append their API tokens to this file',
    )
    .option('--operator-settings', 'also set its limits, make its pools and grant its parents, as they were there')
    .option('--url <url>', urlText)
    .action(
      acts(perform, (target, folder: string, options: ImportedTeam) =>
        importTeam(target, folder, { ...options, tell }),
      ),
    )
}

const limitNames = 'running, queued, stored (bytes), sandboxes, runners, callsPerSecond, databaseBytes'

function addTeamLimit(teams: Command, perform: Perform): void {
  leaf(
    teams,
    'limit <team> <name> <value>',
    `let a team have more or less than others: ${limitNames}; default: as others`,
  ).action(
    acts(perform, async (target, team: string, name: string, text: string) => {
      const value = text === 'default' ? undefined : wholeNumber(text)
      await target.client(TeamLimitService).setTeamLimit({ team, name, value }, operatorContext())
      const words = value === undefined ? 'what all teams have' : String(value)
      return {
        json: { team, name, value: value === undefined ? null : Number(value) },
        text: `Team ${team} has ${words} for ${name}, within 5 seconds.`,
      }
    }),
  )
}

function wholeNumber(text: string): bigint {
  if (!/^\d{1,16}$/.test(text)) throw invalid('/value', 'must be a whole number, or default')
  return BigInt(text)
}

function teamRecord(team: {
  slug: string
  name: string
  zoneId: string
  parentTeamSlugs: string[]
  createdAt?: Timestamp
  suspension?: Suspension
  cell: string
  movingTo?: string
}) {
  const { slug, name, zoneId, parentTeamSlugs, createdAt, suspension, cell, movingTo } = team
  const suspended = suspension && {
    reason: suspension.reason,
    at: time(suspension.at),
    purging: suspension.purging,
  }
  return {
    ...{ slug, name, zoneId, parentTeamSlugs, createdAt: time(createdAt), suspension: suspended },
    cell: cell || firstCell,
    movingTo: movingTo === undefined ? undefined : movingTo || firstCell,
  }
}

function stateOf(suspension: { reason: string; purging: boolean } | undefined): string {
  if (suspension === undefined) return 'active'
  if (suspension.purging) return 'being removed'
  return suspension.reason === '' ? 'suspended' : `suspended: ${suspension.reason}`
}
