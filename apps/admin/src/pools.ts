import type { Command } from 'commander'
import { timestampDate } from '@bufbuild/protobuf/wkt'
import { TeamPoolService, type PoolToken, type TeamPool } from '@automation/contract/execution/v1/team_pool'
import { Failure, invalid, notFound } from '@automation/errors'
import type { Answer } from './answer.ts'
import type { Called } from './called.ts'
import { acts, group, leaf, time, type Perform } from './command-parts.ts'
import { readTeam } from './find-team.ts'
import { operatorContext } from './operator-context.ts'
import type { Target } from './target.ts'

/** The commands for pools of one team each, and for the tokens by which runners of other networks join them. */
export function addPools(program: Command, perform: Perform, called: Called): void {
  const pools = group(program, 'pools', 'pools of one team each, beside those of AGENT_POOLS')
  leaf(pools, 'create <name>', 'make a pool, which one team alone sees and uses')
    .requiredOption('--team <team>', 'whose it is')
    .option('--label <name=value...>', 'what each of its runners must have in RUNNER_LABELS')
    .action(
      acts(perform, (target, name: string, { team, label = [] }: { team: string; label?: string[] }) =>
        createPool(target, { name, team, labels: labelsIn(label) }, called),
      ),
    )
  leaf(pools, 'list', 'all of them, with their runners and tokens').action(acts(perform, listPools))
  leaf(pools, 'delete <name>', 'remove a pool in which no run waits or runs; its tokens and sessions end').action(
    acts(perform, async (target, name: string) => {
      await target.client(TeamPoolService).deletePool({ name }, operatorContext())
      return { json: { name, deleted: true }, text: `Pool ${name} is deleted.` }
    }),
  )
  addPoolTokens(pools, perform)
}

function addPoolTokens(pools: Command, perform: Perform): void {
  const tokens = group(pools, 'token', 'tokens of a pool: with one, runners of other networks join it')
  leaf(tokens, 'create <pool>', 'make a token; it is shown this once')
    .option('--days <days>', 'how long it is good; without, until it is revoked')
    .action(
      acts(perform, async (target, pool: string, { days }: { days?: string }) => {
        const livesMs = days === undefined ? undefined : BigInt(Math.round(numberOf(days) * 86_400_000))
        const { text, token } = await target
          .client(TeamPoolService)
          .createPoolToken({ pool, livesMs }, operatorContext())
        return { json: { token: text, pool, ...(token && tokenRecord(token)) }, text }
      }),
    )
  leaf(tokens, 'list <pool>', 'the tokens of a pool, without their secrets').action(acts(perform, listTokens))
  leaf(tokens, 'revoke <id>', 'end the sessions that it has opened, with their runs; it opens no more').action(
    acts(perform, async (target, id: string) => {
      await target.client(TeamPoolService).revokePoolToken({ id }, operatorContext())
      return { json: { id, revoked: true }, text: `Pool token ${id} is revoked.` }
    }),
  )
}

async function createPool(
  target: Target,
  wanted: { name: string; team: string; labels: Record<string, string> },
  { quietly }: Called,
): Promise<Answer> {
  const team = await readTeam(target, wanted.team)
  if (team.cell !== '')
    throw new Failure(
      'failed_precondition',
      'team_in_another_cell',
      `The executions of ${team.slug} are in the cell ${team.cell}: pools of one team are in the first cell alone`,
    )
  const pool = await target.client(TeamPoolService).createPool(wanted, operatorContext())
  const next = `Make a token for its runners: ${quietly} pools token create ${pool.name}`
  return {
    json: poolRecord(pool),
    text: [`Pool ${pool.name} is made: runs of team ${pool.team} may ask for it.`, next].join('\n'),
  }
}

async function listPools(target: Target): Promise<Answer> {
  const pools = await readPools(target)
  const rows = pools.map(({ name, team, labels, runners, tokens, createdAt }) => [
    ...[name, team, labelsText(labels), String(runners)],
    ...[String(tokens.filter(isGood).length), time(createdAt) ?? '-'],
  ])
  return {
    json: pools.map(poolRecord),
    table: { head: ['POOL', 'TEAM', 'LABELS', 'RUNNERS', 'TOKENS', 'CREATED'], rows },
  }
}

async function listTokens(target: Target, name: string): Promise<Answer> {
  const pool = (await readPools(target)).find((each) => each.name === name)
  if (pool === undefined) throw notFound('pool')
  const records = pool.tokens.map(tokenRecord)
  const rows = records.map(({ id, createdBy, createdAt, expiresAt, lastUsedAt, revokedAt }) => [
    ...[id, createdBy, createdAt ?? '-', expiresAt ?? '-'],
    ...[lastUsedAt ?? '-', revokedAt ?? '-'],
  ])
  return { json: records, table: { head: ['ID', 'BY', 'CREATED', 'ENDS', 'LAST USED', 'REVOKED'], rows } }
}

async function readPools(target: Target): Promise<TeamPool[]> {
  return (await target.client(TeamPoolService).listPools({}, operatorContext())).pools
}

function poolRecord({ name, team, labels, runners, tokens, createdBy, createdAt }: TeamPool) {
  return { name, team, labels, runners, createdBy, createdAt: time(createdAt), tokens: tokens.map(tokenRecord) }
}

function tokenRecord({ id, createdBy, createdAt, expiresAt, revokedAt, lastUsedAt }: PoolToken) {
  return {
    ...{ id, createdBy, createdAt: time(createdAt), expiresAt: time(expiresAt) },
    ...{ revokedAt: time(revokedAt), lastUsedAt: time(lastUsedAt) },
  }
}

function isGood({ revokedAt, expiresAt }: PoolToken): boolean {
  return revokedAt === undefined && (expiresAt === undefined || timestampDate(expiresAt) > new Date())
}

/** As `name=value`, in the order of their names. */
export function labelsText(labels: Record<string, string>): string {
  const texts = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  return texts.toSorted().join(' ') || '-'
}

function labelsIn(texts: string[]): Record<string, string> {
  const pairs = texts.map((text) => /^([^=]+)=(.*)$/.exec(text) ?? [])
  if (pairs.some(({ length }) => length === 0)) throw invalid('/label', 'must be name=value, such as gpu=a100')
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]))
}

function numberOf(text: string): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number) || number <= 0 || number > 3650)
    throw invalid('/days', 'must be a number of days, up to 3650')
  return number
}
