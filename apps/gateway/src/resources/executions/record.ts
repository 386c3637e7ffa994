import {
  LogLevel,
  Status,
  type ErrorFrame,
  type Execution,
  type ExecutionError,
  type LogEntry,
  type Origin,
  type TimelineEvent,
} from '@automation/contract/execution/v1/execution'
import { z } from '@hono/zod-openapi'
import { RawJson } from '../../http/json.ts'
import { int32, moment, uuid } from '../../rest/fields.ts'
import { made, writtenObject } from '../../rest/shared-fields.ts'
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

type StatusName = (typeof STATUS_NAMES)[number]

const status = z.enum(STATUS_NAMES)

/** The names of origins, in the order of their numbers. */
export const ORIGIN_NAMES = ['rest', 'webhook', 'schedule', 'process', 'errorHandler', 'rerun', 'form'] as const

type OriginName = (typeof ORIGIN_NAMES)[number]

const timelineEvent = z
  .object({ status, timestamp: moment(), explanation: z.string().optional() })
  .openapi({ title: 'ExecutionTimelineEvent' })

const errorFrame = z
  .object({ function: z.string().optional(), file: z.string(), line: int32(), column: int32().optional() })
  .openapi({ title: 'ExecutionErrorFrame' })

const executionError = z
  .object({
    name: z.string(),
    message: z.string(),
    frames: z.array(errorFrame).openapi({
      description: 'Where the error came through, as its language orders these places: at most 50; none in lists',
    }),
  })
  .openapi({ title: 'ExecutionError' })

const timeline = z
  .object({ explanation: z.string().optional(), events: z.array(timelineEvent) })
  .openapi({ title: 'ExecutionTimeline' })

export const executionRecord = z
  .object({
    id: uuid(),
    processId: uuid(),
    processName: z.string(),
    processSlug: z.string(),
    versionId: uuid().optional(),
    scheduledId: uuid().optional(),
    status,
    timeline,
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
    startedAt: moment().optional().openapi({ description: 'When a runner took it; absent for what has never run' }),
    endedAt: moment().optional(),
    parentId: uuid().optional().openapi({ description: 'The execution whose code started it' }),
    rerunOf: uuid().optional().openapi({ description: 'The execution that it repeats' }),
    origin: z
      .enum(ORIGIN_NAMES)
      .optional()
      .openapi({ description: 'What started it; absent for some that releases before this member started' }),
    tag: z.string().optional().openapi({ description: 'The version id, tag or alias that its start named' }),
    trial: z.boolean().openapi({ description: 'Whether it is a run of a draft, in place of what is saved' }),
    error: executionError.optional().openapi({ description: 'Where the status is ERROR' }),
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
      startedAt: samples.at,
      endedAt: samples.at,
      origin: 'rest',
      trial: false,
    },
  })

export const executionIdRecord = z
  .object({ executionId: uuid() })
  .openapi('ExecutionId', { example: { executionId: samples.executionId } })

/** The names of the levels of log lines, the least one first. */
export const LEVEL_NAMES = ['DEBUG', 'INFO', 'WARNING', 'ERROR'] as const

const level = z.enum(LEVEL_NAMES)

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
    startedAt: execution.startedAt && presentTime(execution.startedAt),
    endedAt: execution.endedAt && presentTime(execution.endedAt),
    parentId: execution.parentId,
    rerunOf: execution.rerunOf,
    origin: presentOrigin(execution.origin),
    tag: execution.tag,
    trial: execution.trial,
    error: execution.error && presentError(execution.error),
  }
}

/** The name of an origin; undefined where it is not known. */
export function presentOrigin(origin: Origin): OriginName | undefined {
  return ORIGIN_NAMES[origin - 1]
}

/** The origin that a filter names. */
export function originFrom(name: OriginName): Origin {
  return (ORIGIN_NAMES.indexOf(name) + 1) as Origin
}

function presentError({ name, message, frames }: ExecutionError): z.input<typeof executionError> {
  return { name, message, frames: frames.map(presentFrame) }
}

function presentFrame(frame: ErrorFrame): z.input<typeof errorFrame> {
  return { function: frame.function, file: frame.file, line: frame.line, column: frame.column }
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
