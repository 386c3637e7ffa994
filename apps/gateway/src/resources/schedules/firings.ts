import { ClockNote, FiringState, type Firing, type PreviewedTime } from '@automation/contract/schedule/v1/schedule'
import { z } from '@hono/zod-openapi'
import { clearableText, moment, uuid } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime, time } from '../../rest/time.ts'

const stateNames = {
  [FiringState.UNSPECIFIED]: 'waiting',
  [FiringState.COMING]: 'coming',
  [FiringState.WAITING]: 'waiting',
  [FiringState.STARTED]: 'started',
  [FiringState.SKIPPED]: 'skipped',
  [FiringState.REJECTED]: 'rejected',
} as const

export const firingRecord = z
  .object({
    scheduleId: uuid(),
    processSlug: z.string().openapi({ description: 'Empty where the process is being deleted' }),
    nominalAt: moment().openapi({ description: 'The time of the schedule' }),
    state: z.enum(['coming', 'waiting', 'started', 'skipped', 'rejected']),
    executionId: uuid().optional(),
    reason: z.string().optional().openapi({ description: 'Why it has not started, or was rejected' }),
  })
  .openapi('ScheduleFiring', {
    example: {
      scheduleId: samples.id,
      processSlug: 'greeting',
      nominalAt: samples.at,
      state: 'started',
      executionId: samples.executionId,
    },
  })

/** What became of a time of a schedule, as JSON. */
export function presentFiring(firing: Firing): z.input<typeof firingRecord> {
  const { scheduleId, processSlug, nominalAt, state, executionId, reason } = firing
  return { scheduleId, processSlug, nominalAt: presentTime(nominalAt), state: stateNames[state], executionId, reason }
}

/** The span of time of a calendar. */
export const calendarSpan = z.object({
  from: requiredTime('The first instant'),
  to: requiredTime('The last instant'),
})

function requiredTime(description: string) {
  return time()
    .transform((value, check) => {
      if (value !== undefined) return value
      check.addIssue({ code: 'custom', message: 'is required: a time such as 2026-01-31T12:00:00Z' })
      return z.NEVER
    })
    .openapi({ type: 'string', format: 'date-time', description, param: { required: true } })
}

export const previewInput = z
  .object({
    cron: clearableText().openapi({ description: 'Five fields, or six with seconds first; either this or dateTime' }),
    dateTime: clearableText().openapi({ description: 'RFC 3339; without an offset it is a time of the zone' }),
    zoneId: clearableText().openapi({ description: "IANA name; the team's zone where it is absent" }),
    count: z.int().min(1).max(100).nullish().openapi({ default: 10 }),
  })
  .openapi('SchedulePreviewInput', { example: { cron: '30 2 * * *', zoneId: 'Europe/Berlin', count: 1 } })

export const previewRecord = z
  .object({
    zoneId: z.string(),
    times: z.array(
      z
        .object({
          at: moment(),
          local: z.string().openapi({ description: 'What the clocks of the zone show then' }),
          note: z.enum(['gap', 'repeated']).optional().openapi({
            description:
              '`gap`: the clocks leave out the time that is meant, so that it is due when they go on; `repeated`: they show it twice',
          }),
        })
        .openapi('PreviewedTime'),
    ),
  })
  .openapi('SchedulePreview', {
    example: {
      zoneId: 'Europe/Berlin',
      times: [{ at: '2026-03-29T01:00:00.000Z', local: '2026-03-29T03:00:00', note: 'gap' }],
    },
  })

const notes = {
  [ClockNote.UNSPECIFIED]: undefined,
  [ClockNote.GAP]: 'gap',
  [ClockNote.REPEATED]: 'repeated',
} as const

/** The times of a preview as JSON. */
export function presentPreview(zoneId: string, times: PreviewedTime[]): z.input<typeof previewRecord> {
  return { zoneId, times: times.map(({ at, local, note }) => ({ at: presentTime(at), local, note: notes[note] })) }
}
