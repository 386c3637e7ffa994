import type {
  ScheduleEffectService,
  ScheduleService,
  ScheduleUseService,
} from '@automation/contract/schedule/v1/schedule'
import { invalid } from '@automation/errors'
import { memberIn, principalIn, type Handlers } from '@automation/rpc'
import { validate } from 'uuid'
import { changeOf } from '../change.ts'
import { inputOfMessage, scheduleMessage } from '../schedule.ts'
import type { Schedules } from '../schedules.ts'
import { deleteProcess, renameProcess } from '../store/processes.ts'
import { findScheduleUsers } from '../store/schedules.ts'
import type { Store } from '../store/store.ts'
import { noteZone } from '../store/zones.ts'

/** Schedules of teams. */
export function scheduleService(schedules: Schedules): Handlers<typeof ScheduleService> {
  return {
    async createSchedule({ process, cron, dateTime, allowConcurrentExecutions, input }, context) {
      const request = { process, cron, dateTime: dateTime?.text, allowConcurrent: allowConcurrentExecutions }
      return scheduleMessage(await schedules.create({ ...request, input: inputOfMessage(input) }, context))
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

/** What the catalog tells: deleted processes, names and zones of teams. */
export function effectService(store: Store): Handlers<typeof ScheduleEffectService> {
  return {
    async noteZone({ team, zoneId, revision }, context) {
      principalIn(context, 'service')
      await store.transaction((client) => noteZone(client, { team, zoneId, revision }))
      return {}
    },

    async noteProcess({ team, processId, name, revision }, context) {
      principalIn(context, 'service')
      await store.transaction((client) => renameProcess(client, { id: processId, team, name, revision }))
      return {}
    },

    async deleteProcessSchedules({ team, processId }, context) {
      principalIn(context, 'service')
      await store.transaction((client) => deleteProcess(client, team, processId))
      return {}
    },
  }
}

/** Which schedules use what the catalog is to delete. */
export function useService(store: Store): Handlers<typeof ScheduleUseService> {
  return {
    async findScheduleUsers({ processId, name, versionId }, context) {
      principalIn(context, 'service')
      const { team } = memberIn(context)
      if (!validate(processId)) throw invalid('/processId', 'The process id is no UUID')
      const { users, count } = await findScheduleUsers(store, { team, processId, name, versionId })
      return { users: users.map(({ id, comment }) => ({ id, comment: comment ?? undefined })), count }
    },
  }
}
