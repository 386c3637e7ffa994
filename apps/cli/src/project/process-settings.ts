import { isRecord, isSame } from './canonical-json.ts'
import type { Change } from './merge-values.ts'
import {
  defaultSchedule,
  defaultSettings,
  type ProcessSettings,
  type ScheduleState,
  type SecretNames,
} from './states.ts'

/** The members of process.yaml in their order. */
export const processMembers = [
  'name',
  'description',
  'tags',
  'packages',
  'dependencies',
  'webhook',
  'form',
  'schedules',
  'contexts',
]

/** What process.yaml means in one context. */
export interface ResolvedSettings {
  settings: ProcessSettings
  schedules: Record<string, ScheduleState>
  secrets: SecretNames
}

/** Reads the checked value of a process.yaml for a context: what the context says comes before what all say. */
export function resolveSettings(slug: string, file: Record<string, unknown>, context?: string): ResolvedSettings {
  const { contexts, ...common } = file
  const ofContext = context !== undefined && isRecord(contexts) ? contexts[context] : undefined
  const { schedules, ...values } = overlaid(common, ofContext) as Record<string, unknown>
  const packages = isRecord(values['packages']) ? (values['packages'] as Record<string, string>) : {}
  const { webhook, form, ...settings } = overlaid(
    defaultSettings(slug, packages),
    values,
  ) as unknown as ProcessSettings & {
    webhook: { password?: { env: string } }
    form: { token?: { env: string } }
  }
  const { password, ...shownWebhook } = webhook
  const { token, ...shownForm } = form
  return {
    settings: { ...settings, webhook: shownWebhook, form: shownForm },
    schedules: Object.fromEntries(
      Object.entries(isRecord(schedules) ? schedules : {}).map(([name, given]) => [name, scheduleOf(name, given)]),
    ),
    secrets: {
      ...(password && { webhookPassword: password.env }),
      ...(token && { formToken: token.env }),
    },
  }
}

/** Settings and schedules as process.yaml has them: without defaults, in their order. */
export function settingsFile(slug: string, resolved: ResolvedSettings): Record<string, unknown> {
  const { settings, schedules, secrets } = resolved
  const shown = {
    ...settings,
    webhook: {
      enabled: settings.webhook.enabled,
      username: settings.webhook.username,
      ...(secrets.webhookPassword !== undefined && { password: { env: secrets.webhookPassword } }),
      allowedAddresses: settings.webhook.allowedAddresses,
    },
  }
  const entries = Object.entries(schedules).map(([name, schedule]) => [
    name,
    withoutDefaults(schedule, defaultSchedule(name)) ?? {},
  ])
  const own = withoutDefaults(shown, defaultSettings(slug, settings.packages)) ?? {}
  const all: Record<string, unknown> = { ...own, ...(entries.length > 0 && { schedules: Object.fromEntries(entries) }) }
  return Object.fromEntries(processMembers.flatMap((name) => (name in all ? [[name, all[name]]] : [])))
}

/**
 * Changes of settings and schedules as changes of the file: where the context says something of its own, there; what
 * becomes a default is removed.
 */
export function fileChanges(
  slug: string,
  changes: readonly Change[],
  file: Record<string, unknown>,
  merged: Pick<ResolvedSettings, 'settings' | 'schedules'>,
  context?: string,
): Change[] {
  const defaults = defaultSettings(slug, merged.settings.packages)
  return changes.map(({ path, value }) => {
    const inContext = ['contexts', context ?? '', ...path]
    if (context !== undefined && memberAt(file, inContext) !== undefined) return { path: inContext, value }
    const [first, name, ...rest] = path
    if (first === 'schedules' && rest.length === 0 && isRecord(value))
      return { path, value: withoutDefaults(value, defaultSchedule(name!)) ?? {} }
    const usual = first === 'schedules' ? memberAt(defaultSchedule(name!), rest) : memberAt(defaults, path)
    return { path, value: isSame(value, usual) ? undefined : value }
  })
}

function scheduleOf(name: string, given: unknown): ScheduleState {
  const { timeout, freshProcess, ...schedule } = { ...defaultSchedule(name), ...(given as Partial<ScheduleState>) }
  return {
    ...schedule,
    dateTime: schedule.dateTime === null ? null : utc(schedule.dateTime),
    ...(timeout != null && { timeout }),
    ...(freshProcess && { freshProcess }),
  }
}

function utc(text: string): string {
  const time = new Date(text)
  return Number.isNaN(time.getTime()) || !/(?:z|[+-]\d\d:?\d\d)$/i.test(text) ? text : time.toISOString()
}

/** A value with another over it: members of maps one by one, all else whole. */
function overlaid(under: unknown, over: unknown): unknown {
  if (over === undefined) return under
  if (!isRecord(under) || !isRecord(over)) return over
  const names = [...new Set([...Object.keys(under), ...Object.keys(over)])]
  return Object.fromEntries(names.map((name) => [name, overlaid(under[name], over[name])]))
}

function withoutDefaults(value: object, usual: object): Record<string, unknown> | undefined {
  const members = Object.entries(value).flatMap(([name, inner]) => {
    const other = (usual as Record<string, unknown>)[name]
    if (isSame(inner, other)) return []
    const shown = isRecord(inner) && isRecord(other) && name !== 'parameters' ? withoutDefaults(inner, other) : inner
    return shown === undefined ? [] : [[name, shown]]
  })
  return members.length === 0 ? undefined : Object.fromEntries(members)
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((holder, name) => (isRecord(holder) ? holder[name] : undefined), value)
}
