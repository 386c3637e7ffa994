import type { ScheduledInput, ScheduleSchema } from '@automation/contract/schedule/v1/schedule'
import { entityTag, type EditedRow } from '@automation/database'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'

/** When something is due: again and again, or once. Milliseconds since 1970. */
export type When = { cron: string } | { dateTime: number }

/** What each run of a schedule gets. */
export interface RunInput {
  /** A version id, a tag or an alias; empty for the current source. */
  tag: string
  /** JSON text of an object. */
  parameters: Uint8Array
  comment?: string
  agentPool?: string
  callbackUrl?: string
  timeoutMs?: number
  freshProcess: boolean
}

/** A schedule as it is kept. */
export interface ScheduleRow {
  id: string
  team: string
  processId: string
  /** Rises with all that moves `nextAt`, firings too. */
  revision: string
  /** Rises with each edit. */
  edition: number
  cron: string | null
  dateTime: Date | null
  allowConcurrent: boolean
  paused: boolean
  nextAt: Date | null
  tag: string
  parameters: Buffer
  comment: string | null
  agentPool: string | null
  callbackUrl: string | null
  timeoutMs: number | null
  freshProcess: boolean
  versionId: string | null
  lastExecutionId: string | null
  createdBy: string
  initiatedBy: string | null
  createdAt: Date
  updatedBy: string | null
  updatedAt: Date | null
}

/** Which edit the row has. */
export function editOf(row: ScheduleRow): EditedRow {
  return { ...row, revision: row.edition }
}

/** A cron, or a time in ms since 1970. */
export function whenOf({ cron, dateTime }: Pick<ScheduleRow, 'cron' | 'dateTime'>): When {
  return cron === null ? { dateTime: dateTime!.getTime() } : { cron }
}

/** What each run of a schedule gets. */
export function inputOf(row: ScheduleRow): RunInput {
  const { tag, parameters, comment, agentPool, callbackUrl, timeoutMs, freshProcess } = row
  return {
    tag,
    parameters,
    comment: comment ?? undefined,
    agentPool: agentPool ?? undefined,
    callbackUrl: callbackUrl ?? undefined,
    timeoutMs: timeoutMs ?? undefined,
    freshProcess,
  }
}

const emptyObject = Buffer.from('{}')

/** A schedule as others see it. */
export function scheduleMessage(row: ScheduleRow): MessageInitShape<typeof ScheduleSchema> {
  return {
    id: row.id,
    processId: row.processId,
    versionId: row.versionId ?? undefined,
    when:
      row.cron === null
        ? { case: 'dateTime', value: timestampFromDate(row.dateTime!) }
        : { case: 'cron', value: row.cron },
    allowConcurrentExecutions: row.allowConcurrent,
    input: inputMessage(inputOf(row)),
    paused: row.paused,
    nextExecutionAt: row.nextAt === null ? undefined : timestampFromDate(row.nextAt),
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
    updatedBy: row.updatedBy ?? undefined,
    updatedAt: row.updatedAt === null ? undefined : timestampFromDate(row.updatedAt),
    etag: entityTag(editOf(row)),
  }
}

/** What each run gets, as schedules show it and execution is asked for it. */
export function inputMessage({ tag, parameters, comment, ...settings }: RunInput) {
  return { tag, parameters, comment, settings }
}

/** What each run is to get; parameters are an empty object where none are given. */
export function inputOfMessage(input: ScheduledInput | undefined): RunInput {
  const { agentPool, callbackUrl, timeoutMs, freshProcess = false } = input?.settings ?? {}
  const parameters = input === undefined || input.parameters.length === 0 ? emptyObject : input.parameters
  return {
    tag: input?.tag ?? '',
    parameters,
    comment: input?.comment || undefined,
    agentPool: agentPool || undefined,
    callbackUrl: callbackUrl || undefined,
    timeoutMs,
    freshProcess,
  }
}
