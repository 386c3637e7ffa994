import { digestOf } from './canonical-json.ts'

/** The languages of sources, as the interface names them. */
export type Language = 'JAVASCRIPT' | 'PYTHON'

/** What process.yaml says of a process for one context, whole: with all defaults, without schedules and secrets. */
export interface ProcessSettings {
  name: string
  description: string | null
  tags: string[]
  packages: Record<string, string>
  dependencies: { scopedToProcess: boolean; autoDetect: boolean }
  webhook: { enabled: boolean; username: string | null; allowedAddresses: string[] }
  form: { enabled: boolean; tag: string | null; frameAncestors: string[]; public: boolean }
}

/** A process as files and server can both have it. */
export interface ProcessState {
  language: Language
  sourceCode: string
  readme: string | null
  parametersSchema: Record<string, unknown> | null
  settings: ProcessSettings
}

/** A schedule; `cron` or `dateTime` is there. */
export interface ScheduleState {
  cron: string | null
  /** RFC 3339 in UTC. */
  dateTime: string | null
  tag: string | null
  parameters: Record<string, unknown>
  comment: string | null
  paused: boolean
  allowConcurrentExecutions: boolean
  agentPool: string | null
  /** In ms; absent: the usual. */
  timeout?: number
  /** Absent: false. */
  freshProcess?: true
}

export interface ModuleState {
  language: Language
  sourceCode: string
}

/** Names of packages and their versions. */
export type PackagesState = Record<string, string>

/** A team's variable; the value of a sensitive one is never known. */
export interface VariableState {
  value: string | null
  isSensitive: boolean
}

/** What pas.yaml says of the team; members that it does not name are left as they are. */
interface TeamState {
  zoneId?: string
  errorHandler?: { process: string; tag: string | null } | null
}

/** Names of environment variables that hold the secrets of a process. */
export interface SecretNames {
  webhookPassword?: string
  formToken?: string
}

/** Everything that is compared between files and server, one by one. */
export type Item =
  | { kind: 'module'; key: string; name: string; state: ModuleState }
  | { kind: 'packages'; key: string; name: Language; state: PackagesState }
  | { kind: 'variable'; key: string; name: string; state: VariableState; secret?: string; formerState?: VariableState }
  | { kind: 'process'; key: string; name: string; state: ProcessState; secrets: SecretNames }
  | { kind: 'schedule'; key: string; name: string; process: string; state: ScheduleState }
  | { kind: 'team'; key: string; name: string; state: TeamState }

export type ItemKind = Item['kind']
export type Items = ReadonlyMap<string, Item>

/** Keys of items: the same for files, server and history. */
export const keys = {
  module: (language: Language, name: string) => `module/${name}.${language === 'PYTHON' ? 'py' : 'js'}`,
  packages: (language: Language) => `packages/${language.toLowerCase()}`,
  variable: (name: string) => `variable/${name}`,
  process: (slug: string) => `process/${slug}`,
  schedule: (slug: string, name: string) => `schedule/${slug}/${name}`,
  team: 'team',
}

/** The members of a state that another one names, as files of a team name some of its settings. */
export function membersOf<T extends object>(state: T, named: object): T {
  return Object.fromEntries(Object.entries(state).filter(([name]) => name in named)) as T
}

/** Settings of a process that says nothing of them. Own packages are its own set unless it says otherwise. */
export function defaultSettings(slug: string, packages: Record<string, string>): ProcessSettings {
  return {
    name: slug,
    description: null,
    tags: [],
    packages: {},
    dependencies: { scopedToProcess: Object.keys(packages).length > 0, autoDetect: false },
    webhook: { enabled: false, username: null, allowedAddresses: [] },
    form: { enabled: false, tag: null, frameAncestors: [], public: false },
  }
}

/** A schedule that says nothing but when; its comment is its name. */
export function defaultSchedule(name: string): ScheduleState {
  return {
    cron: null,
    dateTime: null,
    tag: null,
    parameters: {},
    comment: name,
    paused: false,
    allowConcurrentExecutions: false,
    agentPool: null,
  }
}

/** The `sourceDigest` that the server shows for a process of this slug and state. */
export function sourceDigestOf(slug: string, state: ProcessState): string {
  return digestOf(sourceMembers(slug, state))
}

/** What the server shows of it among `previousStates`. */
export function processDigestOf(slug: string, state: ProcessState): string {
  const { webhook, form } = state.settings
  return digestOf({
    ...sourceMembers(slug, state),
    // As RFC 8785 has its numbers.
    parametersSchema: JSON.parse(JSON.stringify(state.parametersSchema)) as unknown,
    'webhook.allowedAddresses': webhook.allowedAddresses.length === 0 ? null : webhook.allowedAddresses,
    'settings.formsConfig.tag': form.tag,
    'settings.formsConfig.frameAncestors': form.frameAncestors.length === 0 ? null : form.frameAncestors,
  })
}

function sourceMembers(slug: string, { settings, ...state }: ProcessState): Record<string, unknown> {
  return {
    name: settings.name,
    slug,
    description: settings.description,
    readme: state.readme,
    programmingLanguage: state.language,
    sourceCode: state.sourceCode,
    parametersSchema: state.parametersSchema,
    'manifest.dependencies': settings.packages,
    tags: settings.tags,
    'webhook.enabled': settings.webhook.enabled,
    'webhook.username': settings.webhook.username,
    'settings.formsConfig.enabled': settings.form.enabled,
    'settings.publicConfig.enabled': settings.form.public,
    'settings.dependencies.scopedToProcess': settings.dependencies.scopedToProcess,
    'settings.dependencies.autoDetect': settings.dependencies.autoDetect,
  }
}

/** Both of a module. */
export function moduleDigestOf(name: string, { language, sourceCode }: ModuleState): string {
  return digestOf({ name, programmingLanguage: language, sourceCode })
}
