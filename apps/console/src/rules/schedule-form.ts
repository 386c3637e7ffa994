import type { Schemas } from '../api/client.ts'

type Schedule = Schemas['Schedule']

/** A schedule as it is typed. */
export interface TypedSchedule {
  kind: 'cron' | 'time'
  cron: string
  /** As a field of date and time has it: `2031-01-31T09:00`, read in `zone`. */
  time: string
  /** Of `time`; a cron is read in the team's zone. */
  zone: string
  parameters: unknown
  tag: string
  comment: string
  isConcurrent: boolean
}

/** What was typed as parameters is no object. */
export class ParametersFault extends Error {}

export const newSchedule = (zone: string, parameters: unknown, cron = '0 8 * * MON-FRI'): TypedSchedule => ({
  kind: 'cron',
  cron,
  time: '',
  zone,
  parameters,
  tag: '',
  comment: '',
  isConcurrent: false,
})

/** A stored schedule as it can be typed over; `zone` is the team's. */
export const typedOf = (schedule: Schedule, zone: string): TypedSchedule => ({
  kind: schedule.type === 'PERIODIC' ? 'cron' : 'time',
  cron: schedule.cron ?? '',
  time: schedule.dateTime === undefined ? '' : localTime(schedule.dateTime, zone),
  zone,
  parameters: schedule.parameters ?? {},
  tag: schedule.tag ?? '',
  comment: schedule.comment ?? '',
  isConcurrent: schedule.settings.allowConcurrentExecutions,
})

/** When it is due, as a preview asks for it; undefined while nothing is typed. */
export function whenOf({ kind, cron, time, zone }: TypedSchedule) {
  if (kind === 'cron') return cron.trim() === '' ? undefined : { cron: cron.trim() }
  return time === '' ? undefined : { dateTime: withSeconds(time), zoneId: zone || undefined }
}

/**
 * The input that makes a schedule, or of one that is changed. `dueAt` is the instant that a time in another zone than the
 * team's stands for, as its preview has told.
 */
export function scheduleInput(typed: TypedSchedule, dueAt: string | undefined): Schemas['ScheduledProcessInput'] {
  const { kind, cron, time, parameters, tag, comment, isConcurrent } = typed
  return {
    ...(kind === 'cron' ? { cron: cron.trim(), dateTime: null } : { cron: null, dateTime: dueAt ?? withSeconds(time) }),
    allowConcurrentExecutions: isConcurrent,
    input: { parameters: parametersOf(parameters), tag: tag.trim() || null, comment: comment.trim() || null },
  }
}

function parametersOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ParametersFault('Parameters are a JSON object, such as {"name": "world"}')
  return value as Record<string, unknown>
}

const withSeconds = (time: string): string => (/T\d\d:\d\d$/.test(time) ? `${time}:00` : time)

/** What the clocks of a zone show at an instant, as a field of date and time takes it. */
export function localTime(at: string, zone: string): string {
  const parts = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(new Date(at))
  return parts.replace(' ', 'T')
}
