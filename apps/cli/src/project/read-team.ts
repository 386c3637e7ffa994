import type {
  Client,
  ListedModule,
  ListedProcess,
  ListedTeamVariable,
  Module,
  Process,
  ProgrammingLanguageManifest,
  Schedule,
  Team,
  TeamVariable,
} from '@automation/client'
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
import { moduleDigestOf, sourceDigestOf, type Items, type ScheduleState } from './states.ts'

/** What the server has of a team, by key. */
export type ServerItems = ReadonlyMap<string, ServerItem>

interface Page<T> {
  data: T[]
  total: number
  hasNextPage: boolean
}

const pageSize = 100

/**
 * Reads a team in a few calls: lists, and alone what they leave out because it is large and `local`, the items of the files, does
 * not have with the same digest. Schedules have the names that they have there. The lists are read while `local` is.
 */
export async function readTeam(client: Client, local: Items | Promise<Items>): Promise<ServerItems> {
  const [processes, modules, variables, schedules, javascript, python, team] = await Promise.all([
    all<ListedProcess>(client, '/processes'),
    all<ListedModule>(client, '/modules'),
    all<ListedTeamVariable>(client, '/variables'),
    all<Schedule>(client, '/schedules'),
    client.request<ProgrammingLanguageManifest>('GET', '/dependencies/JAVASCRIPT'),
    client.request<ProgrammingLanguageManifest>('GET', '/dependencies/PYTHON'),
    client.request<Team>('GET', '/team'),
  ])
  const known = await local
  const items = [
    ...(await processItems(client, processes, known)),
    ...(await moduleItems(client, modules, known)),
    ...(await variableItems(client, variables)),
    packagesItem(javascript.data),
    packagesItem(python.data),
    teamItem(team.data),
    ...(await scheduleItems(client, { processes, schedules }, known)),
  ]
  return new Map(items.map((each) => [each.item.key, each]))
}

/** All records of a list. */
export async function all<T>(client: Client, path: string): Promise<T[]> {
  const page = async (number: number) =>
    (await client.request<Page<T>>('GET', path, { query: { page: number, limit: pageSize } })).data
  const first = await page(0)
  const count = Math.ceil(Math.min(first.total, 10_000) / pageSize)
  const others = await inParallel(
    8,
    Array.from({ length: Math.max(0, count - 1) }, (_, index) => index + 1),
    page,
  )
  const pages = [first, ...others]
  // Beyond 10,000 the number is not known.
  while (pages.at(-1)!.hasNextPage) pages.push(await page(pages.length))
  return pages.flatMap(({ data }) => data)
}

function processItems(client: Client, records: ListedProcess[], known: Items): Promise<ServerItem[]> {
  return inParallel(8, records, async (record) => {
    const own = known.get(`process/${record.slug}`)
    const state = processState(record, (digest) =>
      own?.kind === 'process' && sourceDigestOf(record.slug, own.state) === digest ? own.state : undefined,
    )
    if (state !== undefined) return processItem(record, state)
    const { data } = await client.request<Process>('GET', `/processes/${record.id}`)
    return processItem(data, processState(data)!)
  })
}

function moduleItems(client: Client, records: ListedModule[], known: Items): Promise<ServerItem[]> {
  return inParallel(8, records, async (record) => {
    const state = moduleState(record, (digest) => {
      const own = [...known.values()].find((item) => item.kind === 'module' && item.name === record.name)
      return own?.kind === 'module' && moduleDigestOf(record.name, own.state) === digest ? own.state : undefined
    })
    if (state !== undefined) return moduleItem(record, state)
    const { data } = await client.request<Module>('GET', `/modules/${record.id}`)
    return moduleItem(data, moduleState(data)!)
  })
}

function variableItems(client: Client, records: ListedTeamVariable[]): Promise<ServerItem[]> {
  return inParallel(8, records, async (record) => {
    if (record.isSensitive || record.value !== undefined) return variableItem(record)
    return variableItem((await client.request<TeamVariable>('GET', `/variables/${record.id}`)).data)
  })
}

async function scheduleItems(
  client: Client,
  { processes, schedules }: { processes: ListedProcess[]; schedules: Schedule[] },
  known: Items,
): Promise<ServerItem[]> {
  const whole = await inParallel(
    8,
    schedules.filter((each) => !isOver(each)),
    async (record) =>
      record.parameters === undefined
        ? (await client.request<Schedule>('GET', `/schedules/${record.id}`)).data
        : record,
  )
  const ofProcess = Map.groupBy(whole, ({ processId }) => processId)
  const knownOf = Map.groupBy(
    [...known.values()].filter((item) => item.kind === 'schedule'),
    ({ process }) => process,
  )
  return processes.flatMap(({ id, slug, origin }) => {
    const records = (ofProcess.get(id) ?? []).toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
    const states = records.map(scheduleState)
    const named: Record<string, ScheduleState> = Object.fromEntries(
      (knownOf.get(slug) ?? []).map(({ name, state }) => [name, state]),
    )
    return nameSchedules(states, named).map((name, index) => ({
      ...scheduleItem(slug, name, records[index]!, states[index]!),
      ...(origin && { processOrigin: origin }),
    }))
  })
}
