import type { Client } from '../client/client.ts'
import type { Alias, DatastoreEntry, Limits, Manifest, Module, Page, Process } from '../client/records.ts'
import type { Schedule, StorageObject, Team, Variable, Version } from '../client/records.ts'

/** What says when, by whom and as which record something was made: it is another one after a move. */
const ofRecord = new Set([
  ...['id', 'processId', 'clientId', 'slug', 'link', 'token', 'callbackUrl'],
  ...['createdBy', 'createdAt', 'updatedBy', 'updatedAt', 'lastUsedAt', 'revision', 'previousStates'],
])

/** All that a team has as the interface shows it, by names instead of ids, in no order of time. */
export async function teamState(by: Client) {
  const list = async <T>(path: string) => (await by.get<Page<T>>(path)).body.data
  const [processes, modules, schedules] = await Promise.all([
    list<Process>('/processes'),
    list<Module>('/modules'),
    list<Schedule>('/schedules'),
  ])
  const published: Record<string, unknown> = {}
  const tags = new Map<string, string>()
  for (const [kind, owners] of Object.entries({ processes, modules }))
    for (const { id, name } of owners) {
      const versions = await list<Version>(`/${kind}/${id}/versions`)
      for (const version of versions) tags.set(version.id, version.tag)
      const whole = await Promise.all(versions.map((each) => body(by, `/${kind}/${id}/versions/${each.id}`)))
      const aliases = await list<Alias>(`/${kind}/${id}/aliases`)
      published[`${kind} ${name}`] = { versions: whole, aliases }
    }
  const { limits, agentPools } = await body<Limits>(by, '/limits')
  const state = {
    team: await body<Team>(by, '/team'),
    accounts: (await list<{ name: string }>('/auth/service-accounts')).filter(({ name }) => !name.startsWith('sa-')),
    limits: limits.map(({ name, allowed }) => ({ name, allowed })),
    pools: agentPools.map(({ slug }) => slug),
    processes: await Promise.all(processes.map(({ id }) => body<Process>(by, `/processes/${id}`))),
    slugs: processes.map(({ slug }) => ({ name: slug })),
    modules: await Promise.all(modules.map(({ id }) => body<Module>(by, `/modules/${id}`))),
    published: [published],
    schedules: await Promise.all(schedules.map(({ id }) => body<Schedule>(by, `/schedules/${id}`))),
    packages: await Promise.all(
      ['JAVASCRIPT', 'PYTHON'].map((language) => body<Manifest>(by, `/dependencies/${language}`)),
    ),
    variables: await list<Variable>('/variables'),
    objects: (await by.get<StorageObject[]>('/storage/objects')).body,
    datastore: await list<DatastoreEntry>('/datastore'),
  }
  return Object.fromEntries(
    Object.entries(state).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((each) => byNames(each, tags)).toSorted(inOrder) : byNames(value, tags),
    ]),
  )
}

async function body<T>(by: Client, path: string): Promise<T> {
  return (await by.get<T>(path)).body
}

/** A value without what is of its record, versions by their tags. */
function byNames(value: unknown, tags: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return tags.get(value) ?? value
  if (Array.isArray(value)) return value.map((each) => byNames(each, tags))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name, inner]) => !ofRecord.has(name) && !isOwnOrigin(name, inner))
  return Object.fromEntries(members.map(([name, inner]) => [name, byNames(inner, tags)]))
}

/** Whether it is the digest that a push from no repository leaves. */
function isOwnOrigin(name: string, value: unknown): boolean {
  return name === 'origin' && (value as Process['origin'])?.repository === undefined
}

function inOrder(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
}
