import {
  LogLevel,
  Status,
  type Execution,
  type LogEntry,
  type TimelineEvent,
} from '@automation/contract/execution/v1/execution'
import { z } from '@hono/zod-openapi'
import { RawJson } from '../../json/raw-json.ts'
import { moment, uuid } from '../../rest/fields.ts'
import { made, writtenObject } from '../../rest/record.ts'
import { samples } from '../../rest/samples.ts'
import { presentMicros, presentTime } from '../../rest/time.ts'

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

const status = z.enum(STATUS_NAMES)

const timelineEvent = z
  .object({ status, timestamp: moment(), explanation: z.string().optional() })
  .openapi({ title: 'ExecutionTimelineEvent' })

export const executionRecord = z
  .object({
    id: uuid(),
    processId: uuid(),
    processName: z.string(),
    processSlug: z.string(),
    versionId: uuid().optional(),
    scheduledId: uuid().optional(),
    status,
    timeline: z
      .object({ explanation: z.string().optional(), events: z.array(timelineEvent) })
      .openapi({ title: 'ExecutionTimeline' }),
    parameters: writtenObject().optional(),
    comment: z.string().optional(),
    returnValue: z.string().optional().openapi({ description: 'JSON text' }),
    settings: z
      .object({
        timeout: z.int().openapi({ format: 'int64', description: 'Milliseconds' }),
        agentPoolSlug: z.string().optional(),
      })
      .openapi({ title: 'ExecutionSettings' }),
    initiatedBy: z.string().optional(),
    ...made,
    updatedBy: z.string().optional(),
    updatedAt: moment(),
  })
  .openapi('Execution', {
    example: {
      id: samples.executionId,
      processId: samples.id,
      processName: 'Greeting',
      processSlug: 'greeting',
      status: 'FINISHED',
      timeline: {
        events: (['CREATED', 'RUNNING', 'FINISHED'] as const).map((name) => ({ status: name, timestamp: samples.at })),
      },
      parameters: samples.parameters,
      comment: 'By hand',
      returnValue: '{"hello":"Ada"}',
      settings: { timeout: 30_000 },
      ...samples.made,
      updatedAt: samples.at,
    },
  })

export const executionIdRecord = z
  .object({ executionId: uuid() })
  .openapi('ExecutionId', { example: { executionId: samples.executionId } })

const level = z.enum(['DEBUG', 'INFO', 'WARNING', 'ERROR'])

export const logEntryRecord = z.object({ timestamp: moment(), level, message: z.string() }).openapi('ExecutionLog', {
  example: { timestamp: '2026-01-31T12:00:00.123456Z', level: 'INFO', message: 'greeting Ada' },
})

/** The name of a status. */
export function presentStatus(given: Status): StatusName {
  return Status[given] as StatusName
}

/** The status that a filter names. */
export function statusFrom(name: StatusName): Status {
  return Status[name]
}

const utf8 = new TextDecoder()

/** An execution as JSON. Parameters stand as an object, the return value as a string of JSON text. */
export function presentExecution(execution: Execution): z.input<typeof executionRecord> {
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
    settings: { timeout: settings?.timeoutMs ?? 0, agentPoolSlug: settings?.agentPool },
    initiatedBy: execution.initiatedBy,
    createdBy: execution.createdBy,
    createdAt: presentTime(execution.createdAt),
    updatedBy: execution.updatedBy,
    updatedAt: presentTime(execution.updatedAt),
  }
}

/** A change of an execution's status as JSON. */
export function presentTimelineEvent(event: TimelineEvent): z.input<typeof timelineEvent> {
  return { status: presentStatus(event.status), timestamp: presentTime(event.time), explanation: event.explanation }
}

/** A line of an execution's log as JSON. */
export function presentLogEntry(entry: LogEntry): z.input<typeof logEntryRecord> {
  return {
    timestamp: presentMicros(entry.timeUs),
    level: LogLevel[entry.level] as z.input<typeof level>,
    message: entry.message,
  }
}
