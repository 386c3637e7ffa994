import type {
  ScheduleEffectService,
  ScheduleService,
  ScheduleUseService,
} from '@automation/contract/schedule/v1/schedule'
import { invalid } from '@automation/errors'
import { memberIn, principalIn, type CallContext, type Handlers } from '@automation/rpc'
import { timestampDate } from '@bufbuild/protobuf/wkt'
import { validate } from 'uuid'
import { changeOf } from '../change.ts'
import type { FiringLists } from '../firing-lists.ts'
import { previewTimes } from '../preview.ts'
import type { References } from '../references.ts'
import type { RunByHand } from '../run-by-hand.ts'
import { inputOfMessage, scheduleMessage, type ScheduleRow } from '../schedule.ts'
import type { Schedules } from '../schedules.ts'
import { markDeleted, renameProcess } from '../store/processes.ts'
import { deleteSomeSchedules } from '../store/removal.ts'
import { findScheduleUsers } from '../store/schedules.ts'
import type { Store } from '../store/store.ts'
import { noteZone } from '../store/zones.ts'

interface ScheduleServiceParts {
  schedules: Schedules
  references: References
  firings: FiringLists
  byHand: RunByHand
}

/** Schedules of teams. */
export function scheduleService(parts: ScheduleServiceParts): Handlers<typeof ScheduleService> {
  const { schedules, references, firings, byHand } = parts
  return {
    async createSchedule({ process, cron, dateTime, allowConcurrentExecutions, paused, input }, context) {
      const request = { process, cron, dateTime: dateTime?.text, allowConcurrent: allowConcurrentExecutions, paused }
      return scheduleMessage(await schedules.create({ ...request, input: inputOfMessage(input) }, context))
    },

    async getSchedule({ id }, context) {
      const row = await schedules.get(memberIn(context).team, id)
      const [shown = row] = await withVersions([row], references, context)
      return scheduleMessage(shown)
    },

    async listSchedules({ page, processId, keywords }, context) {
      const { rows, info } = await schedules.list(memberIn(context).team, { processId, keywords }, page)
      return { schedules: (await withVersions(rows, references, context)).map(scheduleMessage), page: info }
    },

    async updateSchedule(request, context) {
      if (request.mask === undefined) throw invalid('/', 'names nothing to change')
      return scheduleMessage(await schedules.update(request.id, changeOf(request), request.ifMatch, context))
    },

    async deleteSchedule({ id, ifMatch }, context) {
      await schedules.delete(memberIn(context), id, ifMatch)
      return {}
    },

    async pauseSchedule({ id, ifMatch }, context) {
      return scheduleMessage(await schedules.pause(id, ifMatch, context))
    },

    async resumeSchedule({ id, ifMatch }, context) {
      return scheduleMessage(await schedules.resume(id, ifMatch, context))
    },

    async runSchedule({ id }, context) {
      const row = await schedules.get(memberIn(context).team, id)
      return { executionId: await byHand.run(row, context) }
    },

    async previewTimes({ cron, dateTime, zoneId, count }, context) {
      memberIn(context)
      return previewTimes({ cron, dateTime: dateTime?.text, zoneId, count }, Date.now())
    },

    async listFirings({ id, page }, context) {
      const row = await schedules.get(memberIn(context).team, id)
      return firings.ofSchedule(row, page, context)
    },

    async listFiringsBetween({ from, to }, context) {
      if (from === undefined) throw invalid('/from', 'is required')
      if (to === undefined) throw invalid('/to', 'is required')
      return { firings: await firings.between({ from: timestampDate(from), to: timestampDate(to) }, context) }
    },

    async getLimits(_, context) {
      return { limits: await schedules.limits(memberIn(context).team) }
    },

    async listNextFirings({ processIds }, context) {
      return { firings: await firings.next(memberIn(context).team, processIds) }
    },
  }
}

/** Schedules with the versions that their tags name now, by one call. */
async function withVersions(rows: ScheduleRow[], references: References, context: CallContext): Promise<ScheduleRow[]> {
  const tagged = rows.filter(({ tag }) => tag !== '')
  const found = await references.lookUp(memberIn(context).team, tagged, context)
  if (found === undefined) return rows
  const versions = new Map(tagged.map(({ id }, place) => [id, found[place]?.versionId ?? null]))
  return rows.map((row) => ({ ...row, versionId: versions.get(row.id) ?? null }))
}

const deletedAtOnce = 500

/** What the catalog tells: deleted processes, names and zones of teams. `removed` is called where schedules are gone. */
export function effectService(store: Store, removed: () => void): Handlers<typeof ScheduleEffectService> {
  return {
    async noteZone({ team, zoneId, revision }, context) {
      principalIn(context, 'service')
      await store.transactionFor(team, (client) => noteZone(client, { team, zoneId, revision }))
      return {}
    },

    async noteProcess({ team, processId, name, revision }, context) {
      principalIn(context, 'service')
      await store.transaction((client) => renameProcess(client, { id: processId, team, name, revision }))
      return {}
    },

    async deleteProcessSchedules({ team, processId }, context) {
      principalIn(context, 'service')
      await markDeleted(store, team, processId)
      // Also where nobody waits for the answer any more: it is asked again, and then less is left.
      while ((await deleteSomeSchedules(store, { team, processId }, deletedAtOnce)) > 0) removed()
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
