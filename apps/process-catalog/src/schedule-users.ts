import { asFailure, unavailable } from '@automation/errors'
import { asService, memberIn, ownContext, type CallContext } from '@automation/rpc'
import type { Catalog } from './catalog.ts'
import type { Users } from './users.ts'

const timeoutMs = 2000

export interface UsedName {
  processId: string
  /** A version's tag, or an alias's name. */
  name: string
  versionId?: string
}

/** The schedules that use a version or an alias of a process. Fails with unavailable where the scheduler does not say. */
export async function scheduleUsers({ scheduleUses }: Catalog, used: UsedName, caller: CallContext): Promise<Users> {
  const { requestId, traceparent } = caller
  const call = { ...ownContext(asService('process-catalog', memberIn(caller).team), timeoutMs), requestId, traceparent }
  try {
    const { users, count } = await scheduleUses.findScheduleUsers(used, call)
    const named = users.map(({ id, comment }) => `schedule ${id}${comment === undefined ? '' : ` (${comment})`}`)
    return { named, own: count, others: 0 }
  } catch (error) {
    const { kind } = asFailure(error)
    if (kind === 'internal') throw error
    throw unavailable('Schedules can not be asked now whether they use it, try again', error)
  }
}
