import { Command } from 'commander'
import type { Timestamp } from '@bufbuild/protobuf/wkt'
import { SessionService } from '@automation/contract/catalog/v1/session'
import { TeamService, type Suspension } from '@automation/contract/catalog/v1/team'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { invalid } from '@automation/errors'
import { TokenService } from '@automation/contract/catalog/v1/token'
import type { Called } from './called.ts'
import { consoleLink } from './console-link.ts'
import { operatorContext } from './operator-context.ts'
import { group, jsonText, leaf, time, type Perform } from './command-parts.ts'
import { addPools } from './pools.ts'
import { usageReport, type ReportOptions } from './usage-report.ts'
import { drainRunner, listRunners, whyNoneForNewTeam } from './runners.ts'
import { purgeTeam } from './team-removal.ts'
import { cellCalled, firstCell, giveUpMove, moveToCell } from './cell-move.ts'
import { exportTeam, importTeam, type ImportedTeam } from './team-move.ts'
import { resumeTeam, suspendTeam } from './team-suspension.ts'
import { encryptionStatus, leftIn, rotateEncryptionKey } from './rotate-encryption-key.ts'

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
    .action(function (this: Command, options: ReportOptions) {
      return perform(this, (target) => usageReport(target, options))
    })
  addRunners(program, perform)
  addPools(program, perform, called)
  addTokens(program, perform)
  addConsole(program, perform)
  addKeys(program, perform)
  addEncryptionKey(program, perform)
  return program
}

const helpOn = ({ as, quietly, system }: Called) => `
Which system: ${system}

  ${as} teams create acme
  ${quietly} tokens create acme --name ci     prints the token and nothing else`

function addTeams(program: Command, perform: Perform, called: Called): void {
  const teams = group(program, 'teams', 'teams, and whose modules and variables they may inherit')
  leaf(teams, 'create <slug>', 'make a team')
    .option('--cell <cell>', 'where its executions are to be, of a system with several cells', firstCell)
    .action(function (this: Command, slug: string, { cell }: { cell: string }) {
      return perform(this, async (target) => {
        const wanted = { slug, cell: cellCalled(target, cell, '/cell') }
        const team = await target.client(TeamService).createTeam(wanted, operatorContext())
        const waits = await whyNoneForNewTeam(target)
        const next = `Make an API token for it: ${called.quietly} tokens create ${team.slug}`
        return {
          json: { ...teamRecord(team), ...(waits !== undefined && { warning: waits }) },
          text: [`Team ${team.slug} is made.`, ...(waits === undefined ? [] : [waits]), next].join('\n'),
        }
      })
    })
  leaf(teams, 'list', 'all teams').action(function (this: Command) {
    return perform(this, async (target) => {
      const records = (await target.client(TeamService).listTeams({}, operatorContext())).teams.map(teamRecord)
      const rows = records.map(({ slug, name, parentTeamSlugs, createdAt, cell, movingTo, suspension }) => [
        ...[slug, name, parentTeamSlugs.join(' ') || '-', createdAt, cell],
        movingTo === undefined ? stateOf(suspension) : `moves to the cell ${movingTo}`,
      ])
      return { json: records, table: { head: ['TEAM', 'NAME', 'PARENTS', 'CREATED', 'CELL', 'STATE'], rows } }
    })
  })
  addTeamLimit(teams, perform)
  leaf(teams, 'suspend <team>', 'let nothing new run for a team; its members read on')
    .option('--reason <words>', 'what its members are told', '')
    .option('--kill', 'also kill what runs')
    .action(function (this: Command, team: string, { reason, kill = false }: { reason: string; kill?: boolean }) {
      return perform(this, (target) => suspendTeam(target, team, { reason, kill }))
    })
  leaf(teams, 'resume <team>', 'let a suspended team run again; what waits begins').action(function (
    this: Command,
    team: string,
  ) {
    return perform(this, (target) => resumeTeam(target, team))
  })
  leaf(teams, 'purge <team>', 'remove a team with all that it has, but for audit records; cut off, do it again')
    .requiredOption('--confirm <team>', 'its slug once more')
    .action(function (this: Command, team: string, { confirm }: { confirm: string }) {
      return perform(this, (target) => purgeTeam(target, team, { confirm, tell }))
    })
  addTeamMove(teams, perform)
  addCellMove(teams, perform)
  leaf(teams, 'allow-all-addresses <team>', 'let the tokens of a team be used from anywhere again').action(function (
    this: Command,
    team: string,
  ) {
    return perform(this, async (target) => {
      await target.client(TeamService).clearAllowedAddresses({ team }, operatorContext())
      return {
        json: { team, allowedAddresses: [] },
        text: `Tokens of team ${team} are taken from anywhere, within 5 seconds.`,
      }
    })
  })
  leaf(teams, 'grant-parent <child> <parent>', 'let a team name another as its parent').action(function (
    this: Command,
    child: string,
    parent: string,
  ) {
    return perform(this, async (target) => {
      await target.client(TeamService).grantParent({ child, parent }, operatorContext())
      return { json: { child, parent, granted: true }, text: `Team ${child} may now name ${parent} as a parent.` }
    })
  })
  leaf(teams, 'revoke-parent <child> <parent>', 'take that back; it holds from the next run on').action(function (
    this: Command,
    child: string,
    parent: string,
  ) {
    return perform(this, async (target) => {
      await target.client(TeamService).revokeParent({ child, parent }, operatorContext())
      return { json: { child, parent, granted: false }, text: `Team ${child} may no longer inherit from ${parent}.` }
    })
  })
}

function addCellMove(teams: Command, perform: Perform): void {
  leaf(teams, 'move <team>', 'move the executions of a team to another cell, while it works; cut off, do it again')
    .requiredOption('--to <cell>', `the cell; ${firstCell} is the first one`)
    .option('--wait <seconds>', 'how long to wait for what runs', '60')
    .option('--give-up', 'leave the team where it is, after a move that was cut off')
    .action(function (this: Command, team: string, options: { to: string; wait: string; giveUp?: boolean }) {
      return perform(this, (target) => {
        const to = cellCalled(target, options.to, '/to')
        if (options.giveUp) return giveUpMove(target, team)
        return moveToCell(target, team, { to, waitS: Number(wholeNumber(options.wait)), tell })
      })
    })
}

const urlText = 'where the REST interface is, where no system runs here'

function addTeamMove(teams: Command, perform: Perform): void {
  leaf(teams, 'export <team>', 'write all that a team has, but its secrets, as files that pas push reads')
    .requiredOption('--out <folder>', 'a folder that is not there yet')
    .option('--executions', 'also the records of executions')
    .option('--url <url>', urlText)
    .action(function (this: Command, team: string, options: { out: string; executions?: boolean; url?: string }) {
      return perform(this, (target) =>
        exportTeam(target, team, { ...options, executions: options.executions ?? false, tell }),
      )
    })
  leaf(teams, 'import <folder>', 'bring an exported team into another one; cut off, do it again')
    .requiredOption('--team <team>', 'its slug; it is made where it is not there')
    .option('--secret <name...>', 'variables of the environment that the folder may take secrets from')
    .option(
      '--api-tokens <file>',
      'make the service accounts that are missing, and append their API tokens to this file',
    )
    .option('--operator-settings', 'also set its limits, make its pools and grant its parents, as they were there')
    .option('--url <url>', urlText)
    .action(function (this: Command, folder: string, options: ImportedTeam) {
      return perform(this, (target) => importTeam(target, folder, { ...options, tell }))
    })
}

const limitNames = 'running, queued, stored (bytes), sandboxes, runners, callsPerSecond, databaseBytes'

function addTeamLimit(teams: Command, perform: Perform): void {
  leaf(
    teams,
    'limit <team> <name> <value>',
    `let a team have more or less than others: ${limitNames}; default: as others`,
  ).action(function (this: Command, team: string, name: string, text: string) {
    return perform(this, async (target) => {
      const value = text === 'default' ? undefined : wholeNumber(text)
      await target.client(TeamLimitService).setTeamLimit({ team, name, value }, operatorContext())
      const words = value === undefined ? 'what all teams have' : String(value)
      return {
        json: { team, name, value: value === undefined ? null : Number(value) },
        text: `Team ${team} has ${words} for ${name}, within 5 seconds.`,
      }
    })
  })
}

function wholeNumber(text: string): bigint {
  if (!/^\d{1,16}$/.test(text)) throw invalid('/value', 'must be a whole number, or default')
  return BigInt(text)
}

function addRunners(program: Command, perform: Perform): void {
  const runners = group(program, 'runners', 'the runners, which run the code of processes')
  leaf(runners, 'list', 'each runner: what it serves, how many of its slots are in use, and what it waits for').action(
    function (this: Command) {
      return perform(this, (target) => listRunners(target, tell))
    },
  )
  leaf(runners, 'drain <id>', 'let a runner take no more runs, and end once those that it has are over')
    .option('--wait', 'until it has ended')
    .action(function (this: Command, id: string, { wait = false }: { wait?: boolean }) {
      return perform(this, (target) => drainRunner(target, id, { wait, tell }))
    })
}

function addTokens(program: Command, perform: Perform): void {
  const tokens = group(program, 'tokens', 'API tokens of teams')
  leaf(tokens, 'create <team>', 'make an API token; it is shown this once')
    .option('--name <name>', 'what createdBy shows for it')
    .option('--scopes <words>', 'what it may give, with commas between: executor where it is not said', '')
    .action(function (this: Command, team: string, { name, scopes }: { name?: string; scopes: string }) {
      return perform(this, async (target) => {
        const { apiToken, record } = await target
          .client(TokenService)
          .createApiToken({ team, name, scopes: scopes.split(',').filter(Boolean) }, operatorContext())
        const { clientId, name: shown, scopes: given } = record ?? {}
        return { json: { apiToken, clientId, team, name: shown, scopes: given }, text: apiToken }
      })
    })
  leaf(tokens, 'list <team>', 'the API tokens of a team, without their secrets').action(function (
    this: Command,
    team: string,
  ) {
    return perform(this, async (target) => {
      const { tokens: found } = await target.client(TokenService).listApiTokens({ team }, operatorContext())
      const records = found.map(({ clientId, name, scopes, createdAt, revokedAt, expiresAt, lastUsedAt }) => ({
        clientId,
        team,
        name,
        scopes,
        createdAt: time(createdAt),
        revokedAt: time(revokedAt),
        expiresAt: time(expiresAt),
        lastUsedAt: time(lastUsedAt),
      }))
      const rows = records.map((token) => [
        token.clientId,
        token.name ?? '-',
        token.scopes.join(' '),
        token.createdAt,
        token.expiresAt ?? '-',
        token.lastUsedAt ?? '-',
        token.revokedAt ?? '-',
      ])
      return {
        json: records,
        table: { head: ['CLIENT ID', 'NAME', 'SCOPES', 'CREATED', 'ENDS', 'LAST USED', 'REVOKED'], rows },
      }
    })
  })
  leaf(tokens, 'revoke <client-id>', 'no access token can be had for it any more')
    .option('--at-once', 'also end the access tokens that it was exchanged for, within 5 s')
    .action(function (this: Command, clientId: string, { atOnce = false }: { atOnce?: boolean }) {
      return perform(this, async (target) => {
        await target.client(TokenService).revokeApiToken({ clientId, atOnce }, operatorContext())
        const rest = atOnce ? ', and so are its access tokens' : '; its access tokens are valid until they expire'
        return { json: { clientId, revoked: true, atOnce }, text: `API token ${clientId} is revoked${rest}.` }
      })
    })
  addEndAccess(tokens, perform)
}

function addEndAccess(tokens: Command, perform: Perform): void {
  leaf(
    tokens,
    'end-access <team>',
    'end all access tokens of a team that were issued until now, its sessions of the console, and what teams inherit from it because a token named it, within 5 s',
  ).action(function (this: Command, team: string) {
    return perform(this, async (target) => {
      await target.client(TokenService).endTeamAccess({ team }, operatorContext())
      const text = `Access tokens of ${team} that were issued until now are valid no more. Its API tokens are: revoke those that have leaked. Teams that named it as a parent by a token inherit nothing more: teams grant-parent for those that should.`
      return { json: { team, ended: true }, text }
    })
  })
}

function addConsole(program: Command, perform: Perform): void {
  const console = group(program, 'console', 'the console, where people look at a system')
  leaf(
    console,
    'link [team]',
    'an address that signs somebody in, once, within 10 minutes; for the first team where none is named',
  )
    .option('--name <name>', 'what createdBy shows for them')
    .option('--scopes <words>', 'what they may do, with commas between: executor,admin where it is not said', '')
    .action(function (this: Command, named: string | undefined, { name, scopes }: { name?: string; scopes: string }) {
      return perform(this, async (target) => {
        const { consoleUrl, firstTeam } = target.shown
        const team = named ?? firstTeam
        if (consoleUrl === undefined) throw invalid('/CONSOLE_ENABLED', 'is false: there is no console')
        const url = await consoleLink(target, consoleUrl, { team, name, scopes: scopes.split(',').filter(Boolean) })
        return { json: { url, team }, text: url }
      })
    })
  leaf(
    console,
    'end [team]',
    'end the sessions that reach a team within 10 s, and take back the addresses that sign in',
  )
    .option('--all', 'those of all teams')
    .action(function (this: Command, named: string | undefined, { all }: { all?: boolean }) {
      return perform(this, async (target) => {
        if ((named === undefined) !== (all === true)) throw invalid('/team', 'name a team, or --all')
        const { ended } = await target.client(SessionService).endSessions({ team: named ?? '' }, operatorContext())
        return { json: { ended }, text: `${ended} ${ended === 1 ? 'session has' : 'sessions have'} ended.` }
      })
    })
}

function addKeys(program: Command, perform: Perform): void {
  const keys = group(program, 'keys', 'the keys that access tokens are signed with')
  leaf(
    keys,
    'rotate',
    'sign access tokens with a new key from now on; those that were issued are valid until they expire',
  )
    .option('--at-once', 'end all access tokens that were issued, of all teams, within 5 s')
    .action(function (this: Command, { atOnce = false }: { atOnce?: boolean }) {
      return perform(this, async (target) => {
        await target.client(TokenService).rotateSigningKey({ atOnce }, operatorContext())
        const rest = atOnce ? ' Those that were issued are valid no more.' : ''
        return { json: { rotated: true, atOnce }, text: `Access tokens are signed with a new key from now on.${rest}` }
      })
    })
}

function addEncryptionKey(program: Command, perform: Perform): void {
  leaf(program, 'rotate-encryption-key', 'encrypt all that is stored with the first key of ENCRYPTION_KEY')
    .option('--status', 'only say which secrets need an older key')
    .action(function (this: Command, { status = false }: { status?: boolean }) {
      return perform(this, (target) =>
        status ? encryptionStatus(target) : rotateEncryptionKey(target, (secrets) => tell(leftIn(secrets))),
      )
    })
}

/** Progress is no answer: it goes to stderr. */
function tell(text: string | undefined): void {
  if (text !== undefined) process.stderr.write(`${text}\n`)
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
