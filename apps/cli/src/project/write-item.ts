import { ApiError, type Client, type EditOptions } from '@automation/client'
import { setTimeout as delay } from 'node:timers/promises'
import { ExitError, exitCodes } from '../exit.ts'
import { digestOf, isSame } from './canonical-json.ts'
import { differences, type PlanItem } from './plan.ts'
import { idIn, readItem } from './read-item.ts'
import { all } from './read-team.ts'
import { isOver, scheduleState } from './server-items.ts'
import { membersOf, type Item, type ProcessState, type ScheduleState, type SecretNames } from './states.ts'

/** What a write says of where it comes from, and with what secrets. */
export interface WriteOptions {
  /** Absent where git does not know the files as they are. */
  commit?: string
  repository?: string
  env: Readonly<Record<string, string | undefined>>
}

/** What came of a write: whether it was so already, and what the server warns of. */
export interface Outcome {
  isFound?: boolean
  warnings?: readonly { message: string }[] | undefined
}

/** The same, with where the record is. */
type Written = Outcome & { path: string }

/**
 * Makes an item on the server what the files say, where its state is still that of the plan, and reads it back. Throws an
 * ExitError with the code for a conflict where somebody has changed it meanwhile.
 */
export async function writeItem(client: Client, item: Item, line: PlanItem, options: WriteOptions): Promise<Outcome> {
  const written = await write(client, item, line, options).catch(async (error: unknown): Promise<Written> => {
    if (!(error instanceof ApiError) || (error.status !== 412 && !takenCodes.includes(error.code))) throw error
    // What a push that was cut has written is done.
    const path = line.path ?? (await pathOfName(client, item))
    if (path !== undefined && (await isDone(client, path, item, options))) return { path, isFound: true }
    throw changedMeanwhile(item.key, error)
  })
  const read = await readItem(client, written.path, item)
  if (read === undefined) throw new Error(`${item.key} was written and is not there; somebody has deleted it meanwhile`)
  const state = item.kind === 'team' ? membersOf(read.item.state, item.state) : read.item.state
  if (digestOf(state) !== digestOf(item.state))
    throw new Error(`${item.key} was written, and the server has another ${differences(item.state, state).join(', ')}`)
  return written
}

/** The server's codes for a name that another record has. */
const takenCodes: readonly string[] = ['slug_taken', 'name_taken', 'key_taken']

/** Where the record is that has the name of an item; undefined where a name leads to none. */
async function pathOfName(client: Client, { kind, name, state }: Item): Promise<string | undefined> {
  if (kind === 'process') return `/processes/${name}`
  if (kind === 'module') {
    const modules = await all(client.modules.list())
    const found = modules.find((each) => each.name === name && each.programmingLanguage === state.language)
    return found && `/modules/${found.id}`
  }
  if (kind !== 'variable') return undefined
  const variables = await all(client.variables.list())
  const found = variables.find(({ key }) => key === name)
  return found && `/variables/${found.id}`
}

/** Deletes what the plan says, where it is still in the state of the plan. */
export async function deleteItem(
  client: Client,
  { kind, key, path, etag }: PlanItem & { path: string; kind: 'process' | 'module' | 'schedule' },
): Promise<Outcome> {
  const [id, edit] = [idIn(path), { ifMatch: etag }]
  const records = { process: client.processes, module: client.modules, schedule: client.schedules }
  const isFound = await records[kind].delete(id, edit).then(
    () => false,
    (error: unknown) => {
      if (error instanceof ApiError && error.status === 412) throw changedMeanwhile(key, error)
      if (error instanceof ApiError && error.status === 404) return true
      throw error
    },
  )
  if (await readItem(client, path, { kind, key, name: key.split('/').at(-1)! }))
    throw new Error(`${key} was deleted, and the server still has it`)
  return { isFound }
}

/** Names of environment variables that writing items wants and that are not set. */
export function missingSecrets(item: Item, line: PlanItem, env: WriteOptions['env']): string[] {
  if (!sendsSecrets(line)) return []
  const names = item.kind === 'process' ? Object.values(item.secrets) : item.kind === 'variable' ? [item.secret] : []
  return names.filter((name): name is string => name !== undefined && !env[name])
}

const sendsSecrets = ({ action, fields }: PlanItem) => action === 'create' || fields?.includes('secrets') === true

function write(client: Client, item: Item, line: PlanItem, options: WriteOptions): Promise<Written> {
  switch (item.kind) {
    case 'process':
      return writeProcess(client, item, line, options)
    case 'module':
      return writeModule(client, item, line, options)
    case 'variable':
      return writeVariable(client, item, line, options)
    case 'packages':
      return writePackages(client, item, line)
    case 'schedule':
      return writeSchedule(client, item, line)
    case 'team':
      return writeTeam(client, item, line)
  }
}

async function writeTeam(
  client: Client,
  { state: { zoneId, errorHandler } }: Item & { kind: 'team' },
  { etag }: PlanItem,
): Promise<Written> {
  const input = {
    zoneId,
    ...(errorHandler !== undefined && {
      errorHandlerConfig: errorHandler && { processSlug: errorHandler.process, tag: errorHandler.tag },
    }),
  }
  await client.team.update(input, { ifMatch: etag })
  return { path: '/team' }
}

/** Changes the record of a line of a plan, where it is still in the state of the plan. */
async function update(
  { path = '', etag }: PlanItem,
  change: (id: string, edit: EditOptions) => Promise<{ id: string; warnings?: Written['warnings'] }>,
): Promise<Written> {
  const { warnings } = await change(idIn(path), { ifMatch: etag })
  return { path, warnings }
}

function originOf(state: Item['state'], { repository, commit }: WriteOptions) {
  return { digest: `sha256:${digestOf(state)}`, ...(repository && { repository, ...(commit && { commit }) }) }
}

async function writeProcess(
  client: Client,
  { name, state, secrets }: Item & { kind: 'process' },
  line: PlanItem,
  options: WriteOptions,
): Promise<Written> {
  const body = {
    ...processBody(state, sendsSecrets(line) ? secrets : {}, options.env),
    origin: originOf(state, options),
  }
  if (line.action === 'update') return update(line, (id, edit) => client.processes.update(id, body, edit))
  const made = await client.processes.create({ ...body, slug: name, programmingLanguage: state.language })
  return { path: `/processes/${made.id}`, warnings: made.warnings }
}

function processBody({ settings, ...state }: ProcessState, secrets: SecretNames, env: WriteOptions['env']) {
  const { webhook, form, dependencies, packages, name, description, tags } = settings
  const password = secrets.webhookPassword && env[secrets.webhookPassword]
  const token = secrets.formToken && env[secrets.formToken]
  return {
    ...{ name, description, tags },
    sourceCode: state.sourceCode,
    readme: state.readme,
    parametersSchema: state.parametersSchema,
    manifest: { dependencies: packages },
    webhook: { ...webhook, ...(password && { password }) },
    settings: {
      formsConfig: { enabled: form.enabled, tag: form.tag, frameAncestors: form.frameAncestors },
      publicConfig: { enabled: form.public, ...(token && { token }) },
      dependencies,
    },
  }
}

async function writeModule(
  client: Client,
  { name, state }: Item & { kind: 'module' },
  line: PlanItem,
  options: WriteOptions,
): Promise<Written> {
  const body = { name, sourceCode: state.sourceCode, origin: originOf(state, options) }
  if (line.action === 'update') return update(line, (id, edit) => client.modules.update(id, body, edit))
  const made = await client.modules.create({ ...body, programmingLanguage: state.language })
  return { path: `/modules/${made.id}`, warnings: made.warnings }
}

async function writeVariable(
  client: Client,
  { name, state, secret }: Item & { kind: 'variable' },
  line: PlanItem,
  { env }: WriteOptions,
): Promise<Written> {
  const value = state.isSensitive ? env[secret ?? ''] : state.value
  const body = { ...(value != null && { value }), isSensitive: state.isSensitive }
  if (line.action === 'update') return update(line, (id, edit) => client.variables.update(id, body, edit))
  const made = await client.variables.create({ key: name, ...body })
  return { path: `/variables/${made.id}` }
}

async function writeSchedule(client: Client, item: Item & { kind: 'schedule' }, line: PlanItem): Promise<Written> {
  const { process, state } = item
  const made = line.action === 'create' ? await madeSchedule(client, item) : undefined
  if (made !== undefined) return made
  const input = scheduleInput(state)
  if (line.action === 'update') return update(line, (id, edit) => client.schedules.update(id, input, edit))
  const { id } = await client.schedules.create(process, input)
  return { path: `/schedules/${id}` }
}

/**
 * The schedule that a push of the same plan has made before; undefined where there is none. No name of a schedule is taken,
 * so the server would make a second one. Throws where somebody has changed it since.
 */
async function madeSchedule(
  client: Client,
  { key, process, state }: Item & { kind: 'schedule' },
): Promise<Written | undefined> {
  const { id: processId } = await client.processes.get(process)
  for await (const { id } of client.schedules.list({ processId })) {
    const record = await client.schedules.get(id)
    const present = scheduleState(record)
    if (isSame(present, state)) return { path: `/schedules/${id}`, isFound: true }
    if (present.comment !== null && present.comment === state.comment && !isOver(record)) throw changedMeanwhile(key)
  }
  return undefined
}

function scheduleInput({
  cron,
  dateTime,
  allowConcurrentExecutions,
  parameters,
  tag,
  comment,
  paused,
  agentPool,
  timeout,
  freshProcess,
}: ScheduleState) {
  return {
    ...{ cron, dateTime, allowConcurrentExecutions, paused },
    input: {
      parameters,
      tag,
      comment,
      settings: { agentPoolSlug: agentPool, timeout: timeout ?? null, freshProcess: freshProcess ?? false },
    },
  }
}

/** Installs a list of packages and waits for the end of the installation. */
async function writePackages(
  client: Client,
  { name, state, key }: Item & { kind: 'packages' },
  line: PlanItem,
): Promise<Written> {
  const path = `/dependencies/${name}`
  const now = await readItem(client, path, { kind: 'packages', key, name })
  // The list has no ETag: that nobody has changed it is looked at as late as may be.
  if (
    now &&
    line.before !== undefined &&
    digestOf(now.item.state) !== line.before &&
    digestOf(now.item.state) !== digestOf(state)
  )
    throw changedMeanwhile(key)
  await client.dependencies.update(name, { dependencies: state })
  await client.dependencies.install(name)
  for (;;) {
    const { nextInstallation } = await client.dependencies.get(name)
    if (nextInstallation === undefined) return { path }
    if (nextInstallation.status === 'FAILED')
      throw new Error(`${key} could not be installed: ${nextInstallation.error ?? 'the installer said nothing'}`)
    // Somebody has staged others, which nobody may ever install.
    if (digestOf(nextInstallation.dependencies) !== digestOf(state)) throw changedMeanwhile(key)
    await delay(500)
  }
}

async function isDone(client: Client, path: string, item: Item, options: WriteOptions): Promise<boolean> {
  const read = await readItem(client, path, item)
  if (read === undefined || digestOf(read.item.state) !== digestOf(item.state)) return false
  // Which value a secret has is not known.
  if (item.kind === 'variable') return !item.state.isSensitive
  const hasOrigin = item.kind === 'process' || item.kind === 'module'
  return !hasOrigin || read.origin?.repository === options.repository
}

function changedMeanwhile(key: string, cause?: ApiError): ExitError {
  const by = cause?.problem['updatedBy']
  const at = cause?.problem['updatedAt']
  const who = typeof by === 'string' ? ` by ${by}${typeof at === 'string' ? ` at ${at}` : ''}` : ''
  return new ExitError(exitCodes.conflict, `${key} was changed meanwhile${who}: plan again`, { cause })
}
