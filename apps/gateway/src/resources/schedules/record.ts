import type { Schedule } from '@automation/contract/schedule/v1/schedule'
import { RawJson } from '../../json/raw-json.ts'
import { presentTime } from '../../rest/time.ts'

export const SCHEDULE_TYPES = ['PERIODIC', 'ONE_TIME'] as const

type ScheduleType = (typeof SCHEDULE_TYPES)[number]

const utf8 = new TextDecoder()

/** A schedule as JSON. */
export function presentSchedule(schedule: Schedule): Record<string, unknown> {
  const { when, input } = schedule
  const type: ScheduleType = when.case === 'dateTime' ? 'ONE_TIME' : 'PERIODIC'
  const agentPool = input?.settings?.agentPool
  return {
    id: schedule.id,
    processId: schedule.processId,
    versionId: schedule.versionId,
    comment: input?.comment,
    parameters: presentParameters(input?.parameters) ?? {},
    paused: schedule.paused,
    type,
    cron: when.case === 'cron' ? when.value : undefined,
    dateTime: when.case === 'dateTime' ? presentTime(when.value) : undefined,
    nextExecutionAt: presentTime(schedule.nextExecutionAt),
    settings: {
      allowConcurrentExecutions: schedule.allowConcurrentExecutions,
      agentPoolSlugs: agentPool === undefined ? [] : [agentPool],
    },
    createdBy: schedule.createdBy,
    createdAt: presentTime(schedule.createdAt),
    updatedBy: schedule.updatedBy,
    updatedAt: presentTime(schedule.updatedAt),
  }
}

/** The same for a list, where parameters above 64 KiB are left out. */
export function presentListedSchedule(schedule: Schedule): Record<string, unknown> {
  return { ...presentSchedule(schedule), parameters: presentParameters(schedule.input?.parameters) }
}

function presentParameters(parameters: Uint8Array | undefined): RawJson | undefined {
  return parameters === undefined || parameters.length === 0 ? undefined : new RawJson(utf8.decode(parameters))
}
