import type {
  ListedModule,
  ListedProcess,
  ListedTeamVariable,
  Origin,
  ProgrammingLanguageManifest,
  Schedule,
  Team,
} from '@automation/client'
import { isSame } from './canonical-json.ts'
import {
  keys,
  type Item,
  type ModuleState,
  type PackagesState,
  type ProcessState,
  type ScheduleState,
  type VariableState,
} from './states.ts'

/** An item as the server has it. */
export interface ServerItem {
  item: Item
  /** Below `/api/{team}/rest`. */
  path: string
  id: string
  origin?: Origin
  updatedBy?: string
  updatedAt?: string
  /** Of the process that a schedule belongs to. */
  processOrigin?: Origin
}

/** What a write left of a record's writers. */
interface Written {
  createdBy: string
  createdAt: string
  updatedBy?: string
  updatedAt?: string
}

const writers = ({ createdBy, createdAt, updatedBy, updatedAt }: Written) => ({
  updatedBy: updatedBy ?? createdBy,
  updatedAt: updatedAt ?? createdAt,
})

/**
 * The state of a process as it is listed or read. `known` is asked for what a list has left out because it is large: a state
 * of the same digest; without one the process has to be read, and undefined is returned.
 */
export function processState(
  record: ListedProcess,
  known: (sourceDigest: string) => ProcessState | undefined = () => undefined,
): ProcessState | undefined {
  const isWhole = [
    record.sourceCode,
    record.readme,
    record.description,
    record.parametersSchema,
    record.manifest,
    record.tags,
  ].every((value) => value !== undefined)
  const texts = isWhole ? undefined : known(record.sourceDigest)
  if (!isWhole && texts === undefined) return undefined
  const { webhook, settings } = record
  return {
    language: record.programmingLanguage,
    sourceCode: texts?.sourceCode ?? record.sourceCode!,
    readme: (texts ? texts.readme : record.readme) || null,
    parametersSchema:
      (texts ? texts.parametersSchema : (record.parametersSchema as ProcessState['parametersSchema'])) ?? null,
    settings: {
      name: record.name,
      description: (texts ? texts.settings.description : record.description) || null,
      tags: texts?.settings.tags ?? record.tags!,
      packages: texts?.settings.packages ?? record.manifest!.dependencies,
      dependencies: settings.dependencies,
      webhook: {
        enabled: webhook.enabled,
        username: webhook.username ?? null,
        allowedAddresses: webhook.allowedAddresses ?? [],
      },
      form: {
        enabled: settings.formsConfig.enabled,
        tag: settings.formsConfig.tag ?? null,
        frameAncestors: settings.formsConfig.frameAncestors ?? [],
        public: settings.publicConfig.enabled,
      },
    },
  }
}

export function processItem(record: ListedProcess, state: ProcessState): ServerItem {
  const { slug, id, origin } = record
  return {
    item: { kind: 'process', key: keys.process(slug), name: slug, state, secrets: {} },
    ...{ path: `/processes/${id}`, id, ...(origin && { origin }), ...writers(record) },
  }
}

/** The state of a module, undefined where a list has left out its source and `known` has none of its digest. */
export function moduleState(
  record: ListedModule,
  known: (sourceDigest: string) => ModuleState | undefined = () => undefined,
): ModuleState | undefined {
  if (record.sourceCode === undefined) return known(record.sourceDigest)
  return { language: record.programmingLanguage, sourceCode: record.sourceCode }
}

export function moduleItem(record: ListedModule, state: ModuleState): ServerItem {
  const { name, id, origin } = record
  return {
    item: { kind: 'module', key: keys.module(state.language, name), name, state },
    ...{ path: `/modules/${id}`, id, ...(origin && { origin }), ...writers(record) },
  }
}

export function variableItem(record: ListedTeamVariable): ServerItem {
  const state: VariableState = {
    value: record.isSensitive ? null : (record.value ?? ''),
    isSensitive: record.isSensitive,
  }
  return {
    item: { kind: 'variable', key: keys.variable(record.key), name: record.key, state },
    ...{ path: `/variables/${record.id}`, id: record.id, ...writers(record) },
  }
}

/** The packages that were asked for last: what is staged, else what is installed. */
export function packagesItem({
  programmingLanguage,
  dependencies,
  nextInstallation,
}: ProgrammingLanguageManifest): ServerItem {
  const state: PackagesState = nextInstallation?.dependencies ?? dependencies
  return {
    item: { kind: 'packages', key: keys.packages(programmingLanguage), name: programmingLanguage, state },
    ...{ path: `/dependencies/${programmingLanguage}`, id: programmingLanguage },
  }
}

/** The team, whole. */
export function teamItem(team: Team): ServerItem {
  const handler = team.errorHandlerConfig
  const errorHandler = handler ? { process: handler.processSlug, tag: handler.tag ?? null } : null
  return {
    item: { kind: 'team', key: keys.team, name: 'team', state: { zoneId: team.zoneId, errorHandler } },
    ...{ path: '/team', id: 'team', ...(team.updatedBy && { updatedBy: team.updatedBy }) },
    ...(team.updatedAt && { updatedAt: team.updatedAt }),
  }
}

/** The state of a schedule; its parameters must be there. */
export function scheduleState(record: Schedule): ScheduleState {
  return {
    cron: record.cron ?? null,
    dateTime: record.dateTime === undefined ? null : new Date(record.dateTime).toISOString(),
    tag: record.tag ?? null,
    parameters: record.parameters as Record<string, unknown>,
    comment: record.comment || null,
    paused: record.paused,
    allowConcurrentExecutions: record.settings.allowConcurrentExecutions,
    agentPool: record.settings.agentPoolSlugs[0] ?? null,
    ...(record.settings.timeout !== undefined && { timeout: record.settings.timeout }),
    ...(record.settings.freshProcess && { freshProcess: true }),
  }
}

/** Whether a schedule has nothing left to do: its one time is over. */
export function isOver({ type, nextExecutionAt, paused }: Schedule): boolean {
  return type === 'ONE_TIME' && nextExecutionAt === undefined && !paused
}

export function scheduleItem(process: string, name: string, record: Schedule, state: ScheduleState): ServerItem {
  return {
    item: { kind: 'schedule', key: keys.schedule(process, name), name, process, state },
    ...{ path: `/schedules/${record.id}`, id: record.id, ...writers(record) },
  }
}

/**
 * The names of a process's schedules on the server, which has none of them: that of the known schedule that is the same, else
 * of the one with the same comment, else of the one with the same time, else a new one.
 */
export function nameSchedules(
  states: readonly ScheduleState[],
  known: Readonly<Record<string, ScheduleState>>,
): string[] {
  const names = new Map<number, string>()
  const free = new Map(Object.entries(known))
  const rules: ((a: ScheduleState, b: ScheduleState) => boolean)[] = [
    isSame,
    (a, b) => a.comment !== null && a.comment === b.comment,
    (a, b) => a.cron === b.cron && a.dateTime === b.dateTime,
  ]
  for (const rule of rules)
    for (const [index, state] of states.entries()) {
      const found = names.has(index) ? undefined : [...free].find(([, other]) => rule(state, other))
      if (found === undefined) continue
      names.set(index, found[0])
      free.delete(found[0])
    }
  const taken = new Set([...Object.keys(known), ...names.values()])
  return states.map((state, index) => names.get(index) ?? newName(state.comment ?? 'schedule', taken))
}

function newName(wish: string, taken: Set<string>): string {
  let name = wish
  for (let count = 2; taken.has(name); count += 1) name = `${wish}-${count}`
  taken.add(name)
  return name
}
