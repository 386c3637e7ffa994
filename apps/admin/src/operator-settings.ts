import { readFile, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { TeamPoolService } from '@automation/contract/execution/v1/team_pool'
import { Failure, invalid } from '@automation/errors'
import { readTeam } from './find-team.ts'
import { operatorContext } from './operator-context.ts'
import type { Target } from './target.ts'

const file = 'team-data/operator.json'

/** What operators have set for a team, as an export has it. */
interface OperatorSettings {
  /** By name; in place of what all teams have. */
  limits: Record<string, number>
  /** Of its own. */
  pools: { name: string; labels: Record<string, string> }[]
  /** Teams that it may inherit from, of those that it names. */
  parents: string[]
}

/** Writes what operators have set for a team into the folder of its export. Failure team_not_found. */
export async function exportOperatorSettings(target: Target, team: string, folder: string): Promise<void> {
  const settings = await readOperatorSettings(target, team)
  await writeFile(join(folder, file), `${JSON.stringify(settings, null, 2)}\n`)
}

/**
 * Sets for a team what the operator of the exported one had set, where it has nothing of the kind; gives what was set and
 * what was not, in words. A pool gets no tokens. Failure invalid `/folder`.
 */
export async function importOperatorSettings(target: Target, team: string, folder: string): Promise<string[]> {
  const wanted = await readExported(folder)
  const present = await readOperatorSettings(target, team)
  const { cell } = await readTeam(target, team)
  const told: string[] = []
  const limits = Object.entries(wanted.limits).filter(([name]) => !Object.hasOwn(present.limits, name))
  for (const [name, value] of limits) {
    await target.client(TeamLimitService).setTeamLimit({ team, name, value: BigInt(value) }, operatorContext())
    told.push(`Limit ${name}: ${value}.`)
  }
  for (const parent of wanted.parents) {
    const isThere = await didUnless(['team_not_found', 'invalid_input'], () =>
      target.client(TeamService).grantParent({ child: team, parent }, operatorContext()),
    )
    told.push(isThere ? `Parent ${parent}: granted.` : `Parent ${parent}: there is no such team here to inherit from.`)
  }
  for (const { name, labels } of wanted.pools.filter(
    (pool) => !present.pools.some((each) => each.name === pool.name),
  )) {
    const isMade =
      cell === '' &&
      (await didUnless(['pool_exists'], () =>
        target.client(TeamPoolService).createPool({ name, team, labels }, operatorContext()),
      ))
    told.push(
      isMade
        ? `Pool ${name}: made. Make tokens for its runners: pools token create ${name}.`
        : `Pool ${name}: not made, as ${cell === '' ? 'there is one of this name' : 'pools of one team are in the first cell alone'}.`,
    )
  }
  return told
}

/** What an import without operators' settings leaves out, in words. Failure invalid `/folder`. */
export async function leftOperatorSettings(folder: string): Promise<string[]> {
  const { limits, pools, parents } = await readExported(folder)
  const left = [
    ...Object.entries(limits).map(([name, value]) => `limit ${name} ${value}`),
    ...pools.map(({ name }) => `pool ${name}`),
    ...parents.map((parent) => `parent ${parent}`),
  ]
  if (left.length === 0) return []
  return [`Not taken, as operators have set it: ${left.join(', ')}. Import with --operator-settings, or set it.`]
}

async function readOperatorSettings(target: Target, slug: string): Promise<OperatorSettings> {
  const { parentTeamSlugs: parents } = await readTeam(target, slug)
  const [{ limits }, { pools }] = await Promise.all([
    target.client(TeamLimitService).listTeamLimits({}, operatorContext()),
    target.client(TeamPoolService).listPools({}, operatorContext()),
  ])
  const ofTeam = limits.filter(({ team }) => team === slug).map(({ name, value }) => [name, Number(value)] as const)
  return {
    limits: Object.fromEntries(ofTeam),
    pools: pools.filter(({ team }) => team === slug).map(({ name, labels }) => ({ name, labels })),
    parents,
  }
}

/** An export of `pas` alone has none. Failure invalid `/folder` where the file is another than exports have. */
async function readExported(folder: string): Promise<OperatorSettings> {
  const path = join(folder, file)
  if (!existsSync(path)) return { limits: {}, pools: [], parents: [] }
  const settings = parsed(await readFile(path, 'utf8'))
  if (settings === undefined) throw invalid('/folder', `has a file ${file} that no export has written: remove it`)
  return settings
}

function parsed(text: string): OperatorSettings | undefined {
  let value: Partial<OperatorSettings> | null
  try {
    value = JSON.parse(text) as typeof value
  } catch {
    return undefined
  }
  const { limits, pools, parents } = value ?? {}
  const isWhole =
    isMapOf(limits, (each) => Number.isSafeInteger(each) && Number(each) >= 0) &&
    Array.isArray(pools) &&
    pools.every(
      ({ name, labels }) => typeof name === 'string' && isMapOf(labels, (each) => typeof each === 'string'),
    ) &&
    Array.isArray(parents) &&
    parents.every((each) => typeof each === 'string')
  return isWhole ? { limits: limits!, pools, parents } : undefined
}

function isMapOf(value: unknown, isValue: (value: unknown) => boolean): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every(isValue)
}

/** Whether a call has done it; false where it fails with one of these codes. */
async function didUnless(codes: readonly string[], call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call()
    return true
  } catch (error) {
    if (error instanceof Failure && codes.includes(error.code)) return false
    throw error
  }
}
