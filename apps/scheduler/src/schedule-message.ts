import { RunSettingsSchema, type RunSettings } from '@automation/contract/execution/v1/execution'
import type { ScheduledInput, ScheduleSchema } from '@automation/contract/schedule/v1/schedule'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { inputOf, type RunInput, type ScheduleRow } from './schedule.ts'

const emptyObject = Buffer.from('{}')

export function scheduleMessage(row: ScheduleRow): MessageInitShape<typeof ScheduleSchema> {
  const input = inputOf(row)
  return {
    id: row.id,
    processId: row.processId,
    versionId: row.versionId ?? undefined,
    when:
      row.cron === null
        ? { case: 'dateTime', value: timestampFromDate(row.dateTime!) }
        : { case: 'cron', value: row.cron },
    allowConcurrentExecutions: row.allowConcurrent,
    input: { tag: input.tag, parameters: input.parameters, comment: input.comment, settings: settingsOf(input) },
    paused: row.paused,
    nextExecutionAt: row.nextAt === null ? undefined : timestampFromDate(row.nextAt),
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
    updatedBy: row.updatedBy ?? undefined,
    updatedAt: row.updatedAt === null ? undefined : timestampFromDate(row.updatedAt),
  }
}

export function settingsOf({ agentPool, callbackUrl, timeoutMs, freshProcess }: RunInput): RunSettings {
  return create(RunSettingsSchema, { agentPool, callbackUrl, timeoutMs, freshProcess })
}

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
