import { memberText } from '@automation/contract/json-text'
import type { Schedule } from '@automation/contract/schedule/v1/schedule'
import type { Principal } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { seesCredentials } from '../../auth/scopes.ts'
import { RawJson } from '../../http/json.ts'
import { moment, uuid } from '../../rest/fields.ts'
import { changed, made, presentWarnings, presentWriters, warnings, writtenObject } from '../../rest/shared-fields.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'

export const scheduleRecord = z
  .object({
    id: uuid(),
    processId: uuid(),
    tag: z.string().optional().openapi({ description: 'The version id, tag or alias that its runs are of' }),
    versionId: uuid().optional().openapi({ description: 'What the tag names now; absent where it names nothing' }),
    comment: z.string().optional(),
    parameters: writtenObject().optional().openapi({ description: 'Left out of lists above 64 KiB' }),
    paused: z.boolean(),
    type: z.enum(['PERIODIC', 'ONE_TIME']),
    cron: z.string().optional(),
    dateTime: moment().optional(),
    nextExecutionAt: moment().optional().openapi({ description: 'Absent while it is paused and after its last run' }),
    settings: z
      .object({
        allowConcurrentExecutions: z.boolean(),
        agentPoolSlugs: z.array(z.string()),
        timeout: z.int().optional().openapi({ format: 'int64', description: 'Milliseconds; absent: the usual' }),
        freshProcess: z.boolean().optional().openapi({ description: 'Where it is set' }),
        callbackUrl: z.string().optional().openapi({ description: 'Only shown to tokens with the scope build' }),
      })
      .openapi({ title: 'ScheduleSettings' }),
    ...made,
    ...changed,
    warnings,
  })
  .openapi('Schedule', {
    example: {
      id: samples.id,
      processId: samples.id,
      comment: 'Each morning',
      parameters: samples.parameters,
      paused: false,
      type: 'PERIODIC',
      cron: '0 9 * * MON-FRI',
      nextExecutionAt: '2026-02-02T09:00:00.000Z',
      settings: { allowConcurrentExecutions: false, agentPoolSlugs: [] },
      ...samples.made,
    },
  })

type Presented = z.input<typeof scheduleRecord>

const utf8 = new TextDecoder()

/** A schedule as JSON for a caller. */
export function presentSchedule(schedule: Schedule, caller: Principal): Presented {
  const { when, input, nextExecutionAt } = schedule
  const { agentPool, timeoutMs, freshProcess = false, callbackUrl } = input?.settings ?? {}
  return {
    id: schedule.id,
    processId: schedule.processId,
    tag: input?.tag || undefined,
    versionId: schedule.versionId,
    comment: input?.comment,
    parameters: presentParameters(input?.parameters) ?? {},
    paused: schedule.paused,
    type: when.case === 'dateTime' ? 'ONE_TIME' : 'PERIODIC',
    cron: when.case === 'cron' ? when.value : undefined,
    dateTime: when.case === 'dateTime' ? presentTime(when.value) : undefined,
    nextExecutionAt: nextExecutionAt && presentTime(nextExecutionAt),
    settings: {
      allowConcurrentExecutions: schedule.allowConcurrentExecutions,
      agentPoolSlugs: agentPool === undefined ? [] : [agentPool],
      timeout: timeoutMs,
      freshProcess: freshProcess || undefined,
      callbackUrl: seesCredentials(caller) ? callbackUrl : undefined,
    },
    ...presentWriters(schedule),
  }
}

const foreignZone = {
  path: '/zoneId',
  message: "is no field of a schedule, and is ignored: its times are those of the team's zone, which PATCH /team sets",
}

/** The same as the answer to a write, which may have warnings. `body` is the text that the input was read from. */
export function presentWrittenSchedule(schedule: Schedule, body: string, caller: Principal): Presented {
  const given = memberText(body, 'zoneId') === undefined ? [] : [foreignZone]
  return { ...presentSchedule(schedule, caller), warnings: presentWarnings(given) }
}

/** The same for a list, where parameters above 64 KiB are left out. */
export function presentListedSchedule(schedule: Schedule, caller: Principal): Presented {
  return { ...presentSchedule(schedule, caller), parameters: presentParameters(schedule.input?.parameters) }
}

function presentParameters(parameters: Uint8Array | undefined): RawJson | undefined {
  return parameters === undefined || parameters.length === 0 ? undefined : new RawJson(utf8.decode(parameters))
}
