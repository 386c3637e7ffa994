import type { ScheduleService } from '@automation/contract/schedule/v1/schedule'
import { invalid } from '@automation/errors'
import { memberIn, type Handlers } from '@automation/rpc'
import { changeOf } from '../change.ts'
import { inputOfMessage, scheduleMessage } from '../schedule-message.ts'
import type { Schedules } from '../schedules.ts'

/** Schedules of teams. */
export function scheduleService(schedules: Schedules): Handlers<typeof ScheduleService> {
  return {
    async createSchedule({ process, cron, dateTime, allowConcurrentExecutions, input }, context) {
      const wish = { process, cron, dateTime: dateTime?.text, allowConcurrent: allowConcurrentExecutions }
      return scheduleMessage(await schedules.create({ ...wish, input: inputOfMessage(input) }, context))
    },

    async getSchedule({ id }, context) {
      return scheduleMessage(await schedules.get(memberIn(context).team, id))
    },

    async listSchedules({ page, processId, keywords }, context) {
      const { rows, info } = await schedules.list(memberIn(context).team, { processId, keywords }, page)
      return { schedules: rows.map(scheduleMessage), page: info }
    },

    async updateSchedule(request, context) {
      if (request.mask === undefined) throw invalid('/', 'names nothing to change')
      return scheduleMessage(await schedules.update(request.id, changeOf(request), context))
    },

    async deleteSchedule({ id }, context) {
      await schedules.delete(memberIn(context), id)
      return {}
    },

    async pauseSchedule({ id }, context) {
      await schedules.pause(id, context)
      return {}
    },

    async resumeSchedule({ id }, context) {
      await schedules.resume(id, context)
      return {}
    },
  }
}
