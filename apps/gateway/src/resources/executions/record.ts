import { Status, type Execution, type TimelineEvent } from '@automation/contract/execution/v1/execution'
import { RawJson } from '../../json/raw-json.ts'
import { presentTime } from '../../rest/time.ts'

/** Status names as callers know them, in the order of their numbers. */
export const STATUS_NAMES = [
  'CREATED',
  'QUEUED',
  'DEQUEUED',
  'RUNNING',
  'FINISHED',
  'KILLED',
  'REJECTED',
  'ERROR',
] as const

export type StatusName = (typeof STATUS_NAMES)[number]

/** The name of a status; undefined where there is none. */
export function presentStatus(status: Status): StatusName | undefined {
  return STATUS_NAMES[status - Status.CREATED]
}

/** The status that a filter names. */
export function statusFrom(name: StatusName): Status {
  return Status[name]
}

const utf8 = new TextDecoder()

/** An execution as JSON. Parameters stand as an object, the return value as a string of JSON text. */
export function presentExecution(execution: Execution): Record<string, unknown> {
  const { parameters, returnValue, settings } = execution
  return {
    id: execution.id,
    processId: execution.processId,
    processName: execution.processName,
    processSlug: execution.processSlug,
    versionId: execution.versionId,
    scheduledId: execution.scheduleId,
    status: presentStatus(execution.status),
    timeline: {
      explanation: execution.timeline.at(-1)?.explanation,
      events: execution.timeline.map(presentTimelineEvent),
    },
    parameters: parameters === undefined ? undefined : new RawJson(utf8.decode(parameters) || '{}'),
    comment: execution.comment,
    returnValue: returnValue === undefined ? undefined : utf8.decode(returnValue),
    settings: { timeout: settings?.timeoutMs, agentPoolSlug: settings?.agentPool },
    initiatedBy: execution.initiatedBy,
    createdBy: execution.createdBy,
    createdAt: presentTime(execution.createdAt),
    updatedBy: execution.updatedBy,
    updatedAt: presentTime(execution.updatedAt),
  }
}

/** A change of an execution's status as JSON. */
export function presentTimelineEvent({ status, time, explanation }: TimelineEvent): Record<string, unknown> {
  return { status: presentStatus(status), timestamp: presentTime(time), explanation }
}
