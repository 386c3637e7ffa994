import type { ScheduledInput, ScheduleSchema } from '@automation/contract/schedule/v1/schedule'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { inputOf, type RunInput, type ScheduleRow } from './schedule.ts'

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
