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

const settingsFile = 'team-data/operator.json'

/** What operators have set for a team, as an export has it. */
export interface OperatorSettings {
  /** By name; in place of what all teams have. */
  limits: Record<string, number>
  /** Of its own. */
  pools: { name: string; labels: Record<string, string> }[]
  /** Teams that it may inherit from, of those that it names. */
  parents: string[]
}

/** Writes what operators have set for a team into the folder of its export. */
export async function writeOperatorSettings(folder: string, settings: OperatorSettings): Promise<void> {
  await writeFile(join(folder, settingsFile), `${JSON.stringify(settings, null, 2)}\n`)
}

/**
 * Sets for a team what the operator of the exported one had set, where it has nothing of the kind; tells of each what
 * became of it. A pool gets no tokens. Failure invalid `/folder`.
 */
export async function importOperatorSettings(
  target: Target,
  team: string,
  { folder, tell }: { folder: string; tell(text: string): void },
): Promise<void> {
  const wanted = await readExported(folder)
  const present = await readOperatorSettings(target, team)
  for (const [name, value] of Object.entries(wanted.limits)) {
    const own = present.limits[name]
    if (own === undefined)
      await target.client(TeamLimitService).setTeamLimit({ team, name, value: BigInt(value) }, operatorContext())
    tell(`Limit ${name}: ${own === undefined ? value : `stays ${own}`}.`)
  }
  for (const parent of wanted.parents.filter((each) => !present.parents.includes(each))) {
    const isGranted = await succeeds(['team_not_found', 'invalid_input'], () =>
      target.client(TeamService).grantParent({ child: team, parent }, operatorContext()),
    )
    tell(isGranted ? `Parent ${parent}: granted.` : `Parent ${parent}: there is no such team here to inherit from.`)
  }
  const { cell } = await readTeam(target, team)
  for (const pool of wanted.pools)
    tell(`Pool ${pool.name}: ${await makePool(target, { ...pool, team, cell }, present)}.`)
}

/** Makes a pool of a team where there is none of its name; gives what became of it, in words. */
async function makePool(
  target: Target,
  { name, labels, team, cell }: OperatorSettings['pools'][number] & { team: string; cell: string },
  present: OperatorSettings,
): Promise<string> {
  if (present.pools.some((each) => each.name === name)) return 'the team has it'
  if (cell !== '') return 'not made, as pools of one team are in the first cell alone'
  const isMade = await succeeds(['pool_exists'], () =>
    target.client(TeamPoolService).createPool({ name, team, labels }, operatorContext()),
  )
  return isMade
    ? `made. Make tokens for its runners: pools token create ${name}`
    : 'not made, as there is one of this name'
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

/** Failures: team_not_found; permission_denied of a system of an older release. */
export async function readOperatorSettings(target: Target, slug: string): Promise<OperatorSettings> {
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
  const path = join(folder, settingsFile)
  if (!existsSync(path)) return { limits: {}, pools: [], parents: [] }
  const settings = parsed(await readFile(path, 'utf8'))
  if (settings === undefined)
    throw invalid('/folder', `has a file ${settingsFile} that no export has written: remove it`)
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
    Object.keys(limits!).every(isName) &&
    Array.isArray(pools) &&
    pools.every((pool) => isName(pool?.name) && isMapOf(pool.labels, (each) => typeof each === 'string')) &&
    Array.isArray(parents) &&
    parents.every(isName)
  return isWhole ? { limits: limits!, pools, parents } : undefined
}

/** Such as may be shown on a terminal. */
const isName = (value: unknown) => typeof value === 'string' && /^[\w-]{1,63}$/.test(value)

function isMapOf(value: unknown, isValue: (value: unknown) => boolean): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isValue)
}

/** Whether a call has done it; false where it fails with one of these codes. */
async function succeeds(codes: readonly string[], call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call()
    return true
  } catch (error) {
    if (error instanceof Failure && codes.includes(error.code)) return false
    throw error
  }
}
