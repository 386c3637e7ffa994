import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { TokenService } from '@automation/contract/catalog/v1/token'
import { DatastoreService } from '@automation/contract/storage/v1/datastore'
import { asFailure, Failure, invalid } from '@automation/errors'
import { operatorContext } from './operator-context.ts'
import {
  importOperatorSettings,
  leftOperatorSettings,
  readOperatorSettings,
  writeOperatorSettings,
  type OperatorSettings,
} from './operator-settings.ts'
import type { Answer } from './answer.ts'
import type { Target } from './target.ts'

/** The command line of users, which does by the REST interface all that it can do. */
const pas = resolve(import.meta.dirname, '../../cli/src/main.ts')
const datastoreFile = 'team-data/datastore.ndjson'
const tokenName = 'admin teams export and import'

interface Entry {
  key: string
  /** The value as JSON, with all its digits. */
  json: string
}

interface TransferOptions {
  /** Where the REST interface is; that of the running system, or PUBLIC_URL, where it is absent. */
  url?: string
  tell(text: string): void
}

/** How an export is brought in. */
export interface ImportedTeam extends Pick<TransferOptions, 'url'> {
  team: string
  /** Names of variables of the environment that the folder may take secrets from. */
  secret?: string[]
  /** The file for new API tokens of service accounts; without it none are made. */
  apiTokens?: string
  /** Whether limits, pools and parents are taken, too. */
  operatorSettings?: boolean
}

/**
 * Writes all that a team has, but its secrets, into a folder, which is there when all of it is. Failures: team_not_found,
 * invalid `/out`, pas_missing.
 */
export async function exportTeam(
  target: Target,
  team: string,
  { out, executions, ...options }: TransferOptions & { out: string; executions: boolean },
): Promise<Answer> {
  requirePas()
  const folder = resolve(out)
  if (existsSync(folder)) throw invalid('/out', `${folder} is there already: name another folder`)
  const settings = await settingsWhereShown(target, team)
  // Its own name, as pas makes one that is there when it has come to its end.
  const whole = `${folder}.without-datastore`
  await rm(whole, { recursive: true, force: true })
  await withToken(target, team, (token) =>
    runPas(['team', 'export', whole, '--without-own-account', ...(executions ? ['--executions'] : [])], {
      ...{ target, team, token },
      ...options,
    }),
  )
  const datastore = target.client(DatastoreService)
  const { keys } = await datastore.listKeys({ prefix: '' }, operatorContext(team))
  const lines: string[] = []
  for (const key of keys) {
    const { value } = await datastore.getValue({ key }, operatorContext(team))
    if (value !== undefined) lines.push(`${JSON.stringify({ key, json: value } satisfies Entry)}\n`)
  }
  await writeFile(join(whole, datastoreFile), lines)
  if (settings === undefined) options.tell('What operators have set is not in it: this system is of an older release.')
  else await writeOperatorSettings(whole, settings)
  await rename(whole, folder)
  options.tell(`Values of the datastore: ${lines.length}.`)
  const text = `Team ${team} is in ${folder}. What is to be set again where it is imported: ${join(folder, 'team-data/SET-AGAIN.md')}`
  return { json: { team, folder }, text }
}

/**
 * Brings an exported team into another one, which is made where it is not there. What is the same stays, so that it can be
 * done again. Failures: invalid `/folder`, pas_missing.
 */
export async function importTeam(
  target: Target,
  from: string,
  { team, secret = [], apiTokens, operatorSettings = false, ...options }: TransferOptions & ImportedTeam,
): Promise<Answer> {
  requirePas()
  const folder = resolve(from)
  if (!existsSync(join(folder, 'team-data')))
    throw invalid('/folder', `${folder} is no exported team: it has no team-data`)
  const isMade = await makeTeam(target, team)
  if (isMade) options.tell(`Team ${team} is made.`)
  const args = ['team', 'import', folder, '--yes', ...(apiTokens === undefined ? [] : ['--api-tokens', apiTokens])]
  await withToken(target, team, async (token) => {
    const call = { target, team, token, secrets: secret, ...options }
    if (operatorSettings) {
      await runPas(['team', 'import', folder, '--check'], call)
      // Before the team, whose schedules name pools, and which names parents.
      await importOperatorSettings(target, team, { folder, tell: options.tell })
    } else for (const each of await leftOperatorSettings(folder)) options.tell(each)
    await runPas(args, call)
  })
  const changes = await importDatastore(target, team, join(folder, datastoreFile))
  options.tell(`Values of the datastore that were not there: ${changes}.`)
  return { json: { team, made: isMade, folder }, text: `Team ${team} has what is in ${folder}.` }
}

/** What operators have set for a team; undefined where a system of an older release does not tell operators. */
async function settingsWhereShown(target: Target, team: string): Promise<OperatorSettings | undefined> {
  try {
    return await readOperatorSettings(target, team)
  } catch (error) {
    if (asFailure(error).kind !== 'permission_denied') throw error
    return undefined
  }
}

/** Gives how many values it has written. */
async function importDatastore(target: Target, team: string, path: string): Promise<number> {
  // An export of pas alone has none.
  if (!existsSync(path)) return 0
  const datastore = target.client(DatastoreService)
  let changes = 0
  // No reader of lines: those take more for the end of one, which may stand in JSON.
  for (const line of (await readFile(path, 'utf8')).split('\n')) {
    if (line === '') continue
    const { key, json } = JSON.parse(line) as Entry
    const present = await datastore.getValue({ key }, operatorContext(team))
    // What runs have made of it since is theirs.
    if (present.value !== undefined) continue
    await datastore.setValue({ key, value: json }, operatorContext(team))
    changes += 1
  }
  return changes
}

async function makeTeam(target: Target, slug: string): Promise<boolean> {
  try {
    await target.client(TeamService).createTeam({ slug }, operatorContext())
    return true
  } catch (error) {
    if (error instanceof Failure && error.kind === 'already_exists') return false
    throw error
  }
}

/** Failure pas_missing, as in an image. */
function requirePas(): void {
  if (existsSync(pas)) return
  const text =
    'Teams are exported and imported from a clone of the repository, or with an API token of the team by `pas team export` and `pas team import`'
  throw new Failure('failed_precondition', 'pas_missing', text)
}

/** Works with an API token of the team that is gone afterwards; one that a killed command has left goes before. */
async function withToken(target: Target, team: string, work: (token: string) => Promise<void>): Promise<void> {
  const tokens = target.client(TokenService)
  await revokeOwn(target, team)
  const scopes = ['executor', 'admin']
  const { apiToken } = await tokens.createApiToken({ team, name: tokenName, scopes }, operatorContext())
  try {
    await work(apiToken)
  } finally {
    await revokeOwn(target, team)
  }
}

async function revokeOwn(target: Target, team: string): Promise<void> {
  const tokens = target.client(TokenService)
  const { tokens: all } = await tokens.listApiTokens({ team }, operatorContext())
  const own = all.filter(({ name, revokedAt }) => name === tokenName && revokedAt === undefined)
  for (const { clientId } of own) await tokens.revokeApiToken({ clientId }, operatorContext())
}

interface PasCall extends TransferOptions {
  target: Target
  team: string
  token: string
  /** Names of variables of the environment that files of the folder may take secrets from. */
  secrets?: readonly string[]
}

/** What a command of users needs of the operator's environment, which has secrets that are no team's. */
const handedOn = /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|NO_COLOR|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|(HTTPS?|NO)_PROXY)$/i

/** Runs it to its end; what it says goes to `tell`. Failure `move_failed` where it does not come to a good one. */
async function runPas(args: string[], { target, team, token, url, tell, secrets = [] }: PasCall): Promise<void> {
  const address = url ?? target.shown.restUrl
  const others = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => handedOn.test(name) || secrets.includes(name)),
  )
  const env = { ...others, PAS_URL: address, PAS_TEAM: team, PAS_TOKEN: token }
  const child = spawn(process.execPath, [pas, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', tell)
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0)
    throw new Failure(
      'failed_precondition',
      'move_failed',
      'It was not done; what is said above says why. Do it again.',
    )
}
