import type { ScheduleUseService } from '@automation/contract/schedule/v1/schedule'
import { invalid } from '@automation/errors'
import { memberIn, principalIn, type Handlers } from '@automation/rpc'
import { validate } from 'uuid'
import { findScheduleUsers } from '../store/schedule-users.ts'
import type { Store } from '../store/store.ts'

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
