import type { Client, ListedModule, ListedProcess, ListedTeamVariable, Page, Pages, Schedule } from '@automation/client'
import { ExitError, exitCodes } from '../exit.ts'
import { inParallel } from './in-parallel.ts'
import {
  isOver,
  moduleItem,
  moduleState,
  nameSchedules,
  packagesItem,
  processItem,
  processState,
  scheduleItem,
  scheduleState,
  teamItem,
  variableItem,
  type ServerItem,
} from './server-items.ts'
import { keys, moduleDigestOf, sourceDigestOf, type Items, type ScheduleState } from './states.ts'

/** What the server has of a team, by key. */
export type ServerItems = ReadonlyMap<string, ServerItem>

/**
 * Reads a team in a few calls: lists, and alone what they leave out because it is large and `local`, the items of the files, does
 * not have with the same digest. Schedules have the names that they have there. The lists are read while `local` is.
 */
export async function readTeam(client: Client, local: Items | Promise<Items>): Promise<ServerItems> {
  const [processes, modules, variables, schedules, javascript, python, team] = await Promise.all([
    all(client.processes.list()),
    all(client.modules.list()),
    all(client.variables.list()),
    all(client.schedules.list()),
    client.dependencies.get('JAVASCRIPT'),
    client.dependencies.get('PYTHON'),
    client.team.get(),
  ])
  const known = await local
  const items = [
    ...(await processItems(client, processes, known)),
    ...(await moduleItems(client, modules, known)),
    ...(await variableItems(client, variables)),
    packagesItem(javascript),
    packagesItem(python),
    teamItem(team),
    ...(await scheduleItems(client, { processes, schedules }, known)),
  ]
  return new Map(items.map((each) => [each.item.key, each]))
}

// As POST /run names what it makes of code.
const ofCode = /^process\/run-[0-9a-f]{64}$/

/** The same as a project has it: without the processes that POST /run has made of code, but for those that `local` has. */
export async function readProject(client: Client, local: Items | Promise<Items>): Promise<ServerItems> {
  const [team, known] = await Promise.all([readTeam(client, local), local])
  const isLeft = (key: string) => {
    const item = team.get(key)?.item
    return item?.kind === 'process' && ofCode.test(key) && item.state.settings.tags.includes('run') && !known.has(key)
  }
  const keyOfProcess = ({ item }: ServerItem) => (item.kind === 'schedule' ? keys.process(item.process) : item.key)
  return new Map([...team].filter(([, each]) => !isLeft(keyOfProcess(each))))
}

/** How often a list is read that others change meanwhile. */
const mostReads = 5

/**
 * All records of a list, 8 pages at a time. What is deleted meanwhile moves a record from a page that is not read yet to one
 * that was, so a list that has changed is read again.
 */
export async function all<T extends { id: string }>(list: Pages<T>): Promise<T[]> {
  for (let read = 1; read <= mostReads; read += 1) {
    const pages = await pagesOf(list)
    const records = new Map(pages.flatMap(({ data }) => data.map((each) => [each.id, each] as const)))
    const isSteady = pages.every(({ total }) => total === pages[0]!.total)
    if (isSteady && records.size === pages.reduce((sum, { data }) => sum + data.length, 0)) return [...records.values()]
  }
  throw new ExitError(exitCodes.conflict, 'Others change the team while its lists are read: try again.')
}

async function pagesOf<T>(list: Pages<T>): Promise<Page<T>[]> {
  const first = await list.page()
  const count = Math.ceil(Math.min(first.total, 10_000) / first.limit)
  const others = await inParallel(
    8,
    Array.from({ length: Math.max(0, count - 1) }, (_, index) => index + 1),
    (page) => list.page({ page }),
  )
  const pages = [first, ...others]
  // Beyond 10,000 the number is not known.
  while (pages.at(-1)!.hasNextPage) pages.push(await list.page({ page: pages.length }))
  return pages
}

function processItems(client: Client, records: ListedProcess[], known: Items): Promise<ServerItem[]> {
  return inParallel(8, records, async (record) => {
    const own = known.get(`process/${record.slug}`)
    const state = processState(record, (digest) =>
      own?.kind === 'process' && sourceDigestOf(record.slug, own.state) === digest ? own.state : undefined,
    )
    if (state !== undefined) return processItem(record, state)
    const whole = await client.processes.get(record.id)
    return processItem(whole, processState(whole)!)
  })
}

function moduleItems(client: Client, records: ListedModule[], known: Items): Promise<ServerItem[]> {
  return inParallel(8, records, async (record) => {
    const state = moduleState(record, (digest) => {
      const own = [...known.values()].find((item) => item.kind === 'module' && item.name === record.name)
      return own?.kind === 'module' && moduleDigestOf(record.name, own.state) === digest ? own.state : undefined
    })
    if (state !== undefined) return moduleItem(record, state)
    const whole = await client.modules.get(record.id)
    return moduleItem(whole, moduleState(whole)!)
  })
}

function variableItems(client: Client, records: ListedTeamVariable[]): Promise<ServerItem[]> {
  return inParallel(8, records, async (record) => {
    if (record.isSensitive || record.value !== undefined) return variableItem(record)
    return variableItem(await client.variables.get(record.id))
  })
}

async function scheduleItems(
  client: Client,
  { processes, schedules }: { processes: ListedProcess[]; schedules: Schedule[] },
  known: Items,
): Promise<ServerItem[]> {
  const whole = await inParallel(8, schedules, async (record) =>
    record.parameters === undefined ? client.schedules.get(record.id) : record,
  )
  const ofProcess = Map.groupBy(whole, ({ processId }) => processId)
  const knownOf = Map.groupBy(
    [...known.values()].filter((item) => item.kind === 'schedule'),
    ({ process }) => process,
  )
  return processes.flatMap(({ id, slug, origin }) => {
    const named: Record<string, ScheduleState> = Object.fromEntries(
      (knownOf.get(slug) ?? []).map(({ name, state }) => [name, state]),
    )
    const records = withoutOver(ofProcess.get(id) ?? [], Object.values(named)).toSorted((a, b) =>
      a.createdAt < b.createdAt ? -1 : 1,
    )
    const states = records.map(scheduleState)
    return nameSchedules(states, named).map((name, index) => ({
      ...scheduleItem(slug, name, records[index]!, states[index]!),
      ...(origin && { processOrigin: origin }),
    }))
  })
}

/** Schedules whose one time is over count as long as the files have one for that time. */
function withoutOver(records: readonly Schedule[], known: readonly ScheduleState[]): Schedule[] {
  const times = new Set(known.map(({ dateTime }) => dateTime))
  return records.filter((each) => !isOver(each) || times.has(scheduleState(each).dateTime))
}
